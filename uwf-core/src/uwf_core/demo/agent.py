"""The agent of `uwf demo`: a script without a model. It plays the roles of solve-issue, and those
of develop, which it calls, by fixed rules. The tester is a program and needs no agent.

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
import runpy
import subprocess
import sys
import uuid
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

SESSIONS = Path(__file__).resolve().parent / "sessions"
CODE = "invoice.py"
TESTS = "test_invoice.py"
CUT_OFF = "int(net * VAT_PERCENT / 100)"
HALF_TO_EVEN = "round(net * VAT_PERCENT / 100)"
HALF_UP = "(net * VAT_PERCENT + 50) // 100"
NEW_TEST = """
    def test_half_a_cent_counts_as_a_whole_one(self) -> None:
        self.assertEqual(vat(150), 29)
"""
TEST_SECONDS = 60
AMOUNTS_TRIED = 1000


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
    """The result of the project's tests."""

    green: bool
    ran: int
    output: str


class Workspace:
    """The working folder with the tools of the agent. Each use of a tool is reported as a turn."""

    def __init__(self, folder: Path, events: str | None) -> None:
        self.folder = folder
        self.turns = 0
        self._events = events

    def say(self, text: str) -> None:
        """Report a turn with a text."""
        self._turn({"text": text})

    def read(self, name: str) -> str:
        """The text of a file of the project."""
        try:
            text = (self.folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise AgentError(
                "bad_request",
                f"this script knows only the demo's project, and {self.folder} has no {name}",
            ) from error
        self._used("read_file", {"path": name}, text)
        return text

    def replace(self, name: str, old: str, new: str) -> None:
        """Change a file of the project."""
        text = self.read(name)
        (self.folder / name).write_text(text.replace(old, new), encoding="utf-8")
        self._used("edit_file", {"path": name, "old": old, "new": new}, "done")

    def append(self, name: str, text: str) -> None:
        """Add to the end of a file of the project."""
        with (self.folder / name).open("a", encoding="utf-8") as stream:
            stream.write(text)
        self._used("append_file", {"path": name, "text": text}, "done")

    def tests(self) -> TestRun:
        """Run the project's tests in a separate process; -B: no stale byte code."""
        done = subprocess.run(
            [sys.executable, "-B", "-m", "unittest"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=TEST_SECONDS,
            check=False,
        )
        output = done.stdout.strip()
        self._used("run_command", {"command": "python3 -m unittest"}, output)
        ran = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
        return TestRun(done.returncode == 0, int(ran[1]) if ran else 0, output)

    def try_out(self, name: str, function: str) -> Callable[..., int]:
        """A function of a file of the project, to call with other values."""
        found: Callable[..., int] = runpy.run_path(str(self.folder / name))[function]
        self._used("try_out", {"path": name, "function": function}, "")
        return found

    def _used(self, tool: str, arguments: Mapping[str, str], result: str) -> None:
        call = {
            "id": f"call-{self.turns}",
            "name": tool,
            "arguments": json.dumps(arguments),
            "result": result,
        }
        self._turn({"text": "", "toolCalls": [call]})

    def _turn(self, turn: dict[str, Any]) -> None:
        self.event({"turn": {"index": self.turns, "role": "assistant", **turn}})
        self.turns += 1

    def event(self, event: Mapping[str, Any]) -> None:
        """Send an event to uwf immediately."""
        if self._events:
            with open(self._events, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(event) + "\n")


class Deliverable(NamedTuple):
    """The output of a role: the typed fields, and a text for people."""

    fields: Mapping[str, Any]
    text: str

    def document(self) -> str:
        """Frontmatter and text. JSON is YAML, so each value is written as JSON."""
        lines = [f"{key}: {json.dumps(value)}" for key, value in self.fields.items()]
        return "\n".join(["---", *lines, "---", self.text, ""])


def plan(workspace: Workspace, _instruction: str) -> Deliverable:
    """The planner: run the tests, find the line, change nothing."""
    run = workspace.tests()
    if run.green:
        question = f"All {run.ran} tests pass, and this script knows only one bug. What is it?"
        return Deliverable({"$status": "unclear", "question": question}, "No test fails.")
    red = re.search(r"^(?:FAIL|ERROR): (\w+)", run.output, re.MULTILINE)
    error = re.search(r"^AssertionError: (.*)$", run.output, re.MULTILINE)
    lines = workspace.read(CODE).splitlines()
    line = next((n for n, text in enumerate(lines, 1) if "VAT_PERCENT /" in text), 1)
    test, difference = red[1] if red else "a test", error[1] if error else "an error"
    where = f"{CODE}:{line}"
    return Deliverable(
        {
            "$status": "planned",
            "file": CODE,
            "plan": f"`{test}` fails with {difference}. The tax in {where} is cut off instead of "
            "rounded; round it.",
        },
        f"One of {run.ran} tests is red: `{test}` ({difference}).\n\nThe cause is in {where}:\n\n"
        f"```python\n{lines[line - 1].strip()}\n```\n\nA fraction of a cent is thrown away.",
    )


def develop(workspace: Workspace, _instruction: str) -> Deliverable:
    """The developer: the obvious fix first, the thorough one after the review."""
    code = workspace.read(CODE)
    if CUT_OFF in code:
        workspace.replace(CODE, CUT_OFF, HALF_TO_EVEN)
        summary, files = "The tax is rounded instead of cut off.", [CODE]
    elif HALF_TO_EVEN in code:
        workspace.replace(CODE, HALF_TO_EVEN, HALF_UP)
        workspace.append(TESTS, NEW_TEST)
        summary = "Half a cent is rounded up, in whole numbers; a test checks it."
        files = [CODE, TESTS]
    else:
        summary, files = "Nothing was left to change.", []
    run = workspace.tests()
    state = "green" if run.green else "red"
    return Deliverable(
        {"$status": "done", "summary": summary, "files": files},
        f"{summary} All {run.ran} tests ran: {state}.",
    )


def review(workspace: Workspace, _instruction: str) -> Deliverable:
    """The reviewer: try a thousand amounts against exact arithmetic."""
    vat = workspace.try_out(CODE, "vat")
    wrong = [net for net in range(AMOUNTS_TRIED) if vat(net) != exact_vat(net)]
    workspace.say(f"{AMOUNTS_TRIED} amounts tried, {len(wrong)} with a wrong tax: {wrong[:5]}")
    if not wrong:
        return Deliverable(
            {"$status": "approved", "summary": "The tax is rounded half up, in whole cents."},
            f"The first {AMOUNTS_TRIED} amounts all have the tax that exact arithmetic gives.",
        )
    net = wrong[0]
    rows = [f"| {each} | {vat(each)} | {exact_vat(each)} |" for each in wrong[:5]]
    return Deliverable(
        {
            "$status": "rejected",
            "comments": f"vat({net}) gives {vat(net)}, and {Decimal(net * 19) / 100} cents have to "
            f"become {exact_vat(net)}: half a cent is not always rounded up. Count in whole cents, "
            "and add a test for it.",
        },
        f"{len(wrong)} of the first {AMOUNTS_TRIED} amounts have a wrong tax:\n\n"
        + "\n".join(["| net | vat | exact |", "|---|---|---|", *rows]),
    )


def exact_vat(net: int) -> int:
    """The correct tax, computed in another way than the project does."""
    return int((Decimal(net) * 19 / 100).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def verify(workspace: Workspace, _instruction: str) -> Deliverable:
    """The verifier: do what the reporter of the issue did."""
    prices, expected = [99, 100], 237
    got = workspace.try_out(CODE, "total")(prices)
    tried = f"total({prices}) gives {got} cents"
    if got == expected:
        return Deliverable({"$status": "solved", "evidence": f"{tried}."}, "As the issue expects.")
    missing = f"{tried}, and the issue expects {expected}."
    return Deliverable({"$status": "open", "missing": missing}, "The issue is not solved.")


ROLES: Mapping[str, Callable[[Workspace, str], Deliverable]] = {
    "planner": plan,
    "developer": develop,
    "reviewer": review,
    "verifier": verify,
}


def play(call: argparse.Namespace) -> dict[str, Any]:
    """`--mode run`: play the role, in its session."""
    if call.role not in ROLES:
        raise AgentError(
            "bad_request", f"this script plays {', '.join(ROLES)} of solve-issue, not {call.role}"
        )
    session = DemoSession(call.session)
    workspace = Workspace(Path.cwd(), os.environ.get("UWF_EVENTS"))
    workspace.event({"session": session.name})
    deliverable = ROLES[call.role](workspace, call.prompt)
    workspace.say(deliverable.text)
    session.remember(deliverable.document())
    return {
        "output": deliverable.document(),
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
