"""A project with a thread in every state, on which nothing that is refused may leave a mark."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rig import AGAIN, DONE, GOOD, Rig

SHELL = Path(__file__).parent / "programs" / "shell.py"
QUESTION = {"message": "Which colour?", "form": {"properties": {"colour": {"enum": ["red"]}}}}
SCRIPTS: Mapping[str, list[dict[str, Any]]] = {
    "idle": [DONE],
    "completed": [DONE, GOOD],
    "suspended": [DONE, {"role": "checker", "suspend": {"reason": "who pays?"}}],
    "asking": [DONE, {"role": "checker", "question": QUESTION, "output": {"$status": "good"}}],
    "failed": [DONE, {"role": "checker", "fail": {"kind": "auth"}}],
}


class Answer(NamedTuple):
    """How a call of `uwf` ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The document on stdout."""
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        """The error, which is the last line of stderr."""
        return json.loads(self.stderr.splitlines()[-1])["error"]


class World(Rig):
    """A project with threads `fresh`, `cancelled` and those of `SCRIPTS`, by their names."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.threads: dict[str, str] = {}
        self._shell: subprocess.Popen[str] | None = None

    def fill(self) -> None:
        with self.client() as uwf:
            uwf.add_workflow(self.folder / ".workflow" / "loop.yaml")
            for name, script in SCRIPTS.items():
                self.play(*script)
                self.threads[name] = uwf.start("loop", "The task.")["thread"]
                uwf.exec(self.threads[name], count=len(script))
            for name in ("fresh", "cancelled"):
                self.threads[name] = uwf.start("loop", "The task.")["thread"]
            uwf.cancel(self.threads["cancelled"])
        self.play(DONE, AGAIN, repeat=True)

    def start(self, *arguments: str, prompt: str = "The task.") -> str:
        """A thread of `loop` that has not run yet."""
        started = self.call("thread", "start", "loop", "-p", prompt, *arguments)
        assert started.exit_code == 0, started.stderr
        thread = started.document["thread"]
        assert isinstance(thread, str)
        return thread

    def call(self, *arguments: str, env: Mapping[str, str] | None = None) -> Answer:
        """Call `uwf` in a process that has been started before, which is quicker."""
        if self._shell is None:
            self._shell = subprocess.Popen(
                [sys.executable, str(SHELL)],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        if "--format" not in arguments:
            arguments = (*arguments, "--format", "json")
        words = [os.fsencode(word).hex() for word in arguments]
        self._shell.stdin.write(json.dumps({"words": words, "env": env or {}}) + "\n")
        self._shell.stdin.flush()
        return Answer(**json.loads(self._shell.stdout.readline()))

    def refuse(self, exit_code: int, code: str, *arguments: str, logs: bool = False) -> Any:
        """Call `uwf`, which is to answer with one error and change nothing; the error. What is no
        mistake of the user's is logged.
        """
        before = self.state()
        answer = self.call(*arguments)
        check_refused(answer, exit_code, code)
        marks = differences(before, self.state())
        if logs:
            marks = [mark for mark in marks if "/logs/" not in mark]
        assert not marks, f"a refused command has changed {marks}"
        return answer.error

    def others(self) -> list[str]:
        """What runs of this project beside the process that `call` uses."""
        return [each for each in self.living() if SHELL.name not in each]

    def close(self) -> None:
        if self._shell is not None:
            self._shell.communicate()


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The files that are there or not, or have changed."""
    names = sorted({*before, *after})
    return [name for name in names if before.get(name) != after.get(name)]


def check_refused(answer: Any, exit_code: int, code: str) -> None:
    """One clear error, nothing on stdout, no traceback."""
    assert answer.exit_code == exit_code, answer
    assert answer.stdout == ""
    assert "Traceback" not in answer.stderr
    errors = [line for line in answer.stderr.splitlines() if line.startswith('{"error"')]
    assert len(errors) == 1, answer.stderr
    error = json.loads(errors[0])["error"]
    assert (error["code"], error["exitCode"]) == (code, exit_code), error
    assert error["message"].strip()
    assert error["hint"] or error["where"] or error.get("problems"), (
        f"no cure and no place: {error}"
    )
