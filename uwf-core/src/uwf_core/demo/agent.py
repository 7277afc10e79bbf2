"""The agent of `uwf demo`: a script without a model. It plays the roles of solve-issue, and those
of develop, which it calls, by fixed rules. The tester is a program and needs no agent.

A role is a generator: it gives the tools that it wants to use, gets their results, and returns its
deliverable. Here this script uses the tools itself; where the builtin agent is installed, the roles
are its model.

Its work is real: it reads and changes the files of the working folder, runs the tests, tries the
code, and decides by the results. It needs only the standard library and speaks the command
protocol, so it is also an example of a command agent:

    agent.py --thread ID --role R --prompt TEXT --mode run|fork|ask [--session ID]

`UWF_EVENTS` names a file to which turns are appended as they happen, and the last line on stdout is
the reply. (`UWF_REQUEST` names one with the whole request, which this script does not need.)
Sessions are files in `sessions`, beside this script.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SESSIONS = Path(__file__).resolve().parent / "sessions"
CODE = "invoice.py"
TESTS = "test_invoice.py"
CUT_OFF = "int(net * VAT_PERCENT / 100)"
HALF_TO_EVEN = "round(net * VAT_PERCENT / 100)"
HALF_UP = "(net * VAT_PERCENT + 50) // 100"
LAST_TEST = "        self.assertEqual(total([99, 100]), 237)\n"
NEW_TEST = """
    def test_half_a_cent_counts_as_a_whole_one(self) -> None:
        self.assertEqual(vat(150), 29)
"""
COMMAND_SECONDS = 60
AMOUNTS_TRIED = 1000
PRICES, EXPECTED = [99, 100], 237
PYTHON = f"{shlex.quote(sys.executable)} -B"  # -B: no stale byte code
RUN_TESTS = f"{PYTHON} -m unittest"
_TRY = f"""\
import json
from decimal import ROUND_HALF_UP, Decimal
from invoice import vat
exact = lambda net: int((Decimal(net) * 19 / 100).quantize(Decimal(1), ROUND_HALF_UP))
print(json.dumps([[n, vat(n), exact(n)] for n in range({AMOUNTS_TRIED}) if vat(n) != exact(n)]))
"""
TRY_AMOUNTS = f"{PYTHON} -c {shlex.quote(_TRY)}"
TRY_ISSUE = f"{PYTHON} -c {shlex.quote(f'import invoice; print(invoice.total({PRICES}))')}"


class AgentError(Exception):
    """A failure to report, by the kinds of the command protocol."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class DemoSession:
    """The earlier outputs of this role in this thread: a file with a JSON line for each run."""

    def __init__(self, name: str | None) -> None:
        self.name = name or f"demo-{uuid.uuid4().hex[:12]}"
        self.file = SESSIONS / f"{Path(self.name).name}.jsonl"
        if name is not None and not self.file.is_file():
            raise AgentError("session_lost", f"there is no session {name} in {SESSIONS}")
        SESSIONS.mkdir(mode=0o700, exist_ok=True)

    def remember(self, said: str) -> None:
        """Add a line."""
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(said) + "\n")

    def fork(self, at: str | None) -> "DemoSession":
        """A copy, of the first `at` lines only."""
        new, lines = DemoSession(None), self.file.read_text(encoding="utf-8").splitlines(True)
        new.file.write_text("".join(lines if at is None else lines[: int(at)]), encoding="utf-8")
        return new

    def said(self) -> list[str]:
        """All outputs, oldest first."""
        if not self.file.exists():
            return []
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


class TestRun(NamedTuple):
    """How the project's tests ended, by what the command printed."""

    green: bool
    ran: int
    output: str


class Deliverable(NamedTuple):
    """The output of a role: the typed fields, and a text for people."""

    fields: Mapping[str, Any]
    text: str

    def document(self) -> str:
        """Frontmatter and text. JSON is YAML, so each value is written as JSON."""
        lines = [f"{key}: {json.dumps(value)}" for key, value in self.fields.items()]
        return "\n".join(["---", *lines, "---", self.text, ""])


Use = tuple[str, Mapping[str, str]]
"""A tool and its arguments."""
Script = Generator[tuple[str, Sequence[Use]], list[str], Deliverable]
"""A role: gives words with the tools to use, gets the results of these."""


def run(command: str) -> list[Use]:
    """Run a command of the shell."""
    return [("run_command", {"command": command})]


def read(path: str) -> list[Use]:
    """Read a file of the project."""
    return [("read_file", {"path": path})]


def edit(path: str, old: str, new: str) -> Use:
    """Change a file of the project."""
    return "edit_file", {"path": path, "old": old, "new": new}


def tests_of(result: str) -> TestRun:
    """Read what the command of the tests printed."""
    failed = re.search(r"\n\[[^\n]+\]\Z", result)
    output = result[: failed.start()] if failed else result
    ran = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
    count = int(ran[1]) if ran else 0
    return TestRun(failed is None and count > 0, count, output)


def plan() -> Script:
    """The planner: run the tests, find the line, change nothing."""
    [result] = yield "Which test is red?", run(RUN_TESTS)
    tests = tests_of(result)
    if tests.green:
        question = f"All {tests.ran} tests pass, and this script knows only one bug. What is it?"
        return Deliverable({"$status": "unclear", "question": question}, "No test fails.")
    [code] = yield "Where is that computed?", read(CODE)
    red = re.search(r"^(?:FAIL|ERROR): (\w+)", tests.output, re.MULTILINE)
    error = re.search(r"^AssertionError: (.*)$", tests.output, re.MULTILINE)
    lines = code.splitlines()
    number = next((n for n, text in enumerate(lines, 1) if "VAT_PERCENT /" in text), 1)
    test, difference = red[1] if red else "a test", error[1] if error else "an error"
    where = f"{CODE}:{number}"
    return Deliverable(
        {
            "$status": "planned",
            "file": CODE,
            "plan": f"`{test}` fails with {difference}. The tax in {where} is cut off instead of "
            "rounded; round it.",
        },
        f"One of {tests.ran} tests is red: `{test}` ({difference}).\n\nThe cause is in {where}:\n\n"
        f"```python\n{lines[number - 1].strip()}\n```\n\nA fraction of a cent is thrown away.",
    )


def develop() -> Script:
    """The developer: the obvious fix first, the thorough one after the review."""
    [code] = yield "What does it say now?", read(CODE)
    summary, edits = "Nothing was left to change.", list[Use]()
    if CUT_OFF in code:
        summary = "The tax is rounded instead of cut off."
        edits = [edit(CODE, CUT_OFF, HALF_TO_EVEN)]
    elif HALF_TO_EVEN in code:
        summary = "Half a cent is rounded up, in whole numbers; a test checks it."
        edits = [edit(CODE, HALF_TO_EVEN, HALF_UP), edit(TESTS, LAST_TEST, LAST_TEST + NEW_TEST)]
    if edits:
        yield "", edits
    [result] = yield "Are they green?", run(RUN_TESTS)
    tests = tests_of(result)
    return Deliverable(
        {"$status": "done", "summary": summary, "files": [each["path"] for _, each in edits]},
        f"{summary} All {tests.ran} tests ran: {'green' if tests.green else 'red'}.",
    )


def review() -> Script:
    """The reviewer: try a thousand amounts against exact arithmetic."""
    yield "First the change itself.", read(CODE)
    words = f"It looks right. {AMOUNTS_TRIED} amounts will tell."
    [result] = yield words, run(TRY_AMOUNTS)
    wrong = json.loads(result.partition("\n")[0])
    if not wrong:
        return Deliverable(
            {"$status": "approved", "summary": "The tax is rounded half up, in whole cents."},
            f"The first {AMOUNTS_TRIED} amounts all have the tax that exact arithmetic gives.",
        )
    net, has, exact = wrong[0]
    rows = [f"| {' | '.join(map(str, each))} |" for each in wrong[:5]]
    return Deliverable(
        {
            "$status": "rejected",
            "comments": f"vat({net}) gives {has}, and {net * 19 / 100:g} cents have to become "
            f"{exact}: half a cent is not always rounded up. Count in whole cents, and add a test "
            "for it.",
        },
        f"{len(wrong)} of the first {AMOUNTS_TRIED} amounts have a wrong tax:\n\n"
        + "\n".join(["| net | vat | exact |", "|---|---|---|", *rows]),
    )


def verify() -> Script:
    """The verifier: do what the reporter of the issue did."""
    [result] = yield "What does that invoice come to?", run(TRY_ISSUE)
    got = int(result.partition("\n")[0])
    tried = f"total({PRICES}) gives {got} cents"
    if got == EXPECTED:
        return Deliverable({"$status": "solved", "evidence": f"{tried}."}, "As the issue expects.")
    missing = f"{tried}, and the issue expects {EXPECTED}."
    return Deliverable({"$status": "open", "missing": missing}, "The issue is not solved.")


ROLES: Mapping[str, Callable[[], Script]] = {
    "planner": plan,
    "developer": develop,
    "reviewer": review,
    "verifier": verify,
}


class Workspace:
    """The working folder with the tools of the agent. Each use of tools is reported as a turn."""

    def __init__(self, folder: Path, events: str | None) -> None:
        self.folder = folder
        self.turns = 0
        self._events = events

    def play(self, script: Script) -> Deliverable:
        """Use the tools that a role wants, until it delivers."""
        try:
            wanted = next(script)
            while True:
                wanted = script.send(self._use(*wanted))
        except StopIteration as end:
            delivered: Deliverable = end.value
            self._turn({"text": delivered.text})
            return delivered
        except (LookupError, ValueError) as fault:
            known = "this script knows the demo's project alone"
            raise AgentError("bad_request", f"{known}, and something is new: {fault}") from fault

    def _use(self, words: str, uses: Sequence[Use]) -> list[str]:
        results = [getattr(self, name)(**given) for name, given in uses]
        numbered = enumerate(zip(uses, results, strict=True))
        calls = [
            {"id": f"call-{at}", "name": name, "arguments": json.dumps(given), "result": result}
            for at, ((name, given), result) in numbered
        ]
        self._turn({"text": words, "toolCalls": calls})
        return results

    def read_file(self, path: str) -> str:
        """The text of a file of the project."""
        try:
            return (self.folder / path).read_text(encoding="utf-8")
        except OSError as error:
            raise AgentError(
                "bad_request",
                f"this script knows only the demo's project, and {self.folder} has no {path}",
            ) from error

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Change a file of the project."""
        text = self.read_file(path).replace(old, new)
        (self.folder / path).write_text(text, encoding="utf-8")
        return "done"

    def run_command(self, command: str) -> str:
        """What a command prints, and its exit code unless 0."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=COMMAND_SECONDS,
            check=False,
        )
        code = f"\n[exit code {done.returncode}]" if done.returncode else ""
        return done.stdout.strip() + code

    def _turn(self, turn: dict[str, Any]) -> None:
        self.event({"turn": {"index": self.turns, "role": "assistant", **turn}})
        self.turns += 1

    def event(self, event: Mapping[str, Any]) -> None:
        """Send an event to uwf immediately."""
        if self._events:
            with open(self._events, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(event) + "\n")


def play(call: argparse.Namespace) -> dict[str, Any]:
    """`--mode run`: play the role, in its session."""
    if call.role not in ROLES:
        raise AgentError(
            "bad_request", f"this script plays {', '.join(ROLES)} of solve-issue, not {call.role}"
        )
    session = DemoSession(call.session)
    workspace = Workspace(Path.cwd(), os.environ.get("UWF_EVENTS"))
    workspace.event({"session": session.name})
    document = workspace.play(ROLES[call.role]()).document()
    session.remember(document)
    return {
        "output": document,
        "sessionId": session.name,
        "usage": {"turns": workspace.turns},
        "agentVersion": "demo",
        "mark": str(len(session.said())),
    }


def fork(call: argparse.Namespace) -> dict[str, Any]:
    """`--mode fork`: a copy of the session, up to the mark `at` of the request."""
    request = json.loads(Path(os.environ["UWF_REQUEST"]).read_bytes())
    return {"sessionId": DemoSession(call.session).fork(request["at"]).name}


def ask(call: argparse.Namespace) -> dict[str, Any]:
    """`--mode ask`: a script cannot think about a question, but it can print its session."""
    session = DemoSession(call.session)
    said = "\n".join(f"````\n{each}````\n" for each in session.said())
    remembers = f"this is what I said in this session:\n\n{said}" if said else "I remember nothing."
    return {
        "output": f"I am a script and cannot think about your question, but {remembers}",
        "sessionId": session.name,
    }


MODES: Mapping[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "run": play,
    "fork": fork,
    "ask": ask,
}


def main(arguments: list[str]) -> int:
    """Deliverable one call; the reply is the last line on stdout."""
    parser = argparse.ArgumentParser(description="The scripted agent of `uwf demo`.")
    parser.add_argument("--thread", required=True)
    parser.add_argument("--role", required=True)
    parser.add_argument("--prompt", required=True)
    parser.add_argument("--mode", choices=MODES, default="run")
    parser.add_argument("--session")
    call = parser.parse_args(arguments)
    try:
        reply = MODES[call.mode](call)
    except AgentError as error:
        reply = {"error": {"kind": error.kind, "message": str(error)}}
    print(json.dumps(reply))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
