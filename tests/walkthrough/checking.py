"""What a check is written with: calls of the command under test, and what they must give."""

import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.walkthrough.site import Site

SECONDS_PER_COMMAND = 90
_SHOWN = 300


class Finding(Exception):
    """What a check saw and did not expect. The text begins with the command."""


class Call(NamedTuple):
    """A call of the command under test."""

    command: str
    exit: int


class Check(NamedTuple):
    """A promise to a user, the commands that it exercises, and the function that tries them.
    `alone`: no other check may change the store meanwhile.
    """

    promise: str
    commands: tuple[str, ...]
    run: "Callable[[Uwf], None]"
    alone: bool = False


def check(*commands: str, alone: bool = False) -> "Callable[[Callable[[Uwf], None]], Check]":
    """Make a check of a function. `commands` are those that the check is about; it may call
    others to get there.
    """

    def make(function: "Callable[[Uwf], None]") -> Check:
        return Check(function.__name__.replace("_", " "), commands, function, alone)

    return make


class Uwf:
    """The command under test, in the folder of a check.

        run = uwf("run", "letter.yaml", "-p", "Task", has={"status": "completed"})
        uwf("thread show", run["thread"], "--format text", says=["completed"])

    Attributes:
        folder: where the commands run; it holds `letter.yaml` and `play.yaml`.
        calls: what was called so far.
        line: the last command line.
    """

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder
        self.calls: list[Call] = []
        self.line = "uwf"

    def __call__(
        self,
        command: str,
        *words: object,
        code: int = 0,
        has: Mapping[str, Any] | None = None,
        says: Iterable[str] = (),
        fails: str | None = None,
        stdin: str = "",
    ) -> Any:
        """Run a command, compare what it gives, and return its document, or its text.

        Args:
            command: the words of the command, and options with fixed values.
            words: further arguments, each as it is.
            code: the exit code that it must have.
            has: values of the document by dotted path; `name.#` is the length of a list.
            says: texts that stdout must contain.
            fails: a text that its error must contain; the error must also have a place or a
                hint.
            stdin: the standard input.

        Raises:
            Finding: something else happened.
        """
        done = self._run([*command.split(), *map(str, words)], stdin, command)
        if done.returncode != code:
            said = f"{done.stderr.strip() or done.stdout.strip()}"
            self.wrong(f"exit code {done.returncode} instead of {code}: {said[-_SHOWN:]}")
        for text in says:
            if text not in done.stdout:
                self.wrong(f"stdout lacks {text!r}: {done.stdout[:_SHOWN]!r}")
        if fails is not None:
            self._compare_error(done.stderr, fails, code)
        document = _document(done.stdout)
        for path, value in (has or {}).items():
            self.same(f"`{path}`", _at(document, path), value)
        return document

    def expect(self, condition: bool, what: str) -> None:
        """Report `what` about the last command unless the condition holds."""
        if not condition:
            self.wrong(what)

    def same(self, name: str, found: Any, expected: Any) -> None:
        """Report a value of the last command that is not the expected one."""
        if found != expected:
            self.wrong(f"{name} is {_short(found)} instead of {_short(expected)}")

    def wrong(self, what: str) -> None:
        """Report what is wrong with the last command."""
        raise Finding(f"`{self.line}`: {what}")

    def letter(self, **options: Any) -> Any:
        """Run the workflow `letter` to its end: four steps; the document of the run."""
        return self("run letter.yaml -p", "Invite the street", **options)

    def survey(self, **options: Any) -> Any:
        """Run the workflow `survey` until its branch `owner` waits; the document of the run."""
        self.script((self.folder / "survey-play.yaml").read_text("utf-8"))
        return self("run survey.yaml -p", "How do people travel?", code=3, **options)

    def branches(self, thread: str) -> dict[Any, str]:
        """The threads of the branches of an open fan-out, by name or number."""
        shown = self("thread show", thread)["stack"][-1]["branches"]
        return {each["index"] if each["name"] is None else each["name"]: each["thread"]
                for each in shown}  # fmt: skip

    def changed_letter(self, old: str, new: str, folder: str = "changed") -> str:
        """Another version of the workflow `letter`; the name of its file."""
        file = self.folder / folder / "letter.yaml"
        file.parent.mkdir()
        text = (self.folder / "letter.yaml").read_text("utf-8")
        file.write_text(text.replace(old, new), "utf-8")
        return f"{folder}/letter.yaml"

    def not_called(self, commands: Iterable[str]) -> list[str]:
        """Those of the commands that were not called."""
        called = [f"{call.command} " for call in self.calls]
        return [each for each in commands if not any(one.startswith(f"{each} ") for one in called)]

    def script(self, text: str) -> None:
        """Replace the script of the roles; a word `old -> new` changes it in one place."""
        old, arrow, new = text.partition(" -> ")
        file = self.folder / "play.yaml"
        file.write_text(file.read_text("utf-8").replace(old, new) if arrow else text, "utf-8")

    def _run(
        self, words: Sequence[str], stdin: str, command: str
    ) -> "subprocess.CompletedProcess[str]":
        self.line = " ".join(["uwf", *words])
        try:
            done = subprocess.run(
                [str(self.site.uwf), *words], cwd=self.folder, input=stdin, capture_output=True,
                encoding="utf-8", errors="replace", timeout=SECONDS_PER_COMMAND, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Finding(f"`{self.line}`: not ended after {SECONDS_PER_COMMAND} s") from error
        self.calls.append(Call(command, done.returncode))
        return done

    def _compare_error(self, stderr: str, fails: str, code: int) -> None:
        lines = stderr.strip().splitlines() or [""]
        error = _at(_document(lines[-1]), "error")
        if not isinstance(error, dict):
            self.wrong(f"stderr ends without an error document: {stderr[-_SHOWN:]!r}")
        self.same("`exitCode` of the error", error.get("exitCode"), code)
        self.expect(fails in f"{error['message']} {error['where']}", f"no {fails!r} in {error}")
        self.expect(bool(error["hint"] or error["where"]), f"no place and no fix in {error}")


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _at(document: Any, path: str) -> Any:
    """The value at a dotted path; `#` is the length; None if there is nothing."""
    for word in path.split("."):
        try:
            if word == "#":
                document = len(document)
            else:
                document = document[int(word) if isinstance(document, list) else word]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return document


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
