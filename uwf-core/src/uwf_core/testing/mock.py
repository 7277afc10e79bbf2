"""The `mock` agent plays a script: a workflow runs without a model, a key or a network.

The script is named by the option `script` or by `UWF_MOCK_SCRIPT` (a relative path is relative to
the folder that uwf was called in); its format is in `uwf_core.testing.mock_script`.

It stores its state in the agent's own folder (`AgentContext.state_dir`):

- `sessions/<id>.jsonl`: a session, a line for each exchange. A session whose file is gone is lost.
- `calls/<script>-<thread>-<step>`: how often that step of the script was played in that thread,
  written only where its `outputs` differ from call to call; `…-<role>`: the steps of a role, where
  a script by roles has several for it.
"""

# Loaded by the steps whose cost is measured: pathlib is not imported for that.
# ruff: noqa: PTH100, PTH105, PTH110, PTH113, PTH116, PTH118

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from uwf_core import __version__
from uwf_core.api.agent import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AgentSpec,
    Continuation,
    TurnSink,
)
from uwf_core.api.extract import NO_USAGE
from uwf_core.api.hookspecs import hookimpl
from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    BadRequest,
    FailureKind,
    NeedsAnswer,
    SessionLost,
)
from uwf_core.process.folders import make_folder
from uwf_core.testing.mock_script import Play, Script, read_script

if TYPE_CHECKING:
    from uwf_core.api.agent import AskRequest

SCRIPT_VARIABLE = "UWF_MOCK_SCRIPT"
_LOOK_SECONDS = 0.02
"""Between two looks whether the file of `untilFile` exists."""


@hookimpl
def uwf_agents() -> Sequence[AgentSpec]:
    """The one agent of this module."""
    return [
        AgentSpec(
            name="mock",
            summary="plays a script: no model, no key, no network",
            factory="uwf_core.testing.mock:MockAgent",
            options="uwf_core.testing.mock:MockOptions",
            capabilities=frozenset(("continue", "fork", "ask", "stream", "structured", "usage")),
            env=(SCRIPT_VARIABLE,),
        )
    ]


@dataclass(frozen=True, kw_only=True)
class MockOptions:
    """`script`: the script's path; without it `UWF_MOCK_SCRIPT` names it. `structured`: it gets the
    prompt of an agent that delivers typed objects; it may play both kinds of output in any case.
    """

    script: str | None = None
    structured: bool = False


class MockAgent:
    """Plays the step of its script whose index is the number of steps before this one."""

    def __init__(self, options: MockOptions, context: AgentContext) -> None:
        self._options = options
        self._sessions = _Sessions(os.path.join(context.state_dir, "sessions"))
        self._calls = os.path.join(context.state_dir, "calls")

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """Play the step of the script.

        Raises:
            BadRequest: no or a wrong script, a role other than expected, beyond the script's end.
            AgentFailure, NeedsAnswer: as scripted.
            SessionLost: the session to continue does not exist.
            AgentInterrupted: cancelled while it waits.
        """
        play = self._next_play(request)
        session, continuation, proof = self._session(request)
        sink.session(session)
        for turn in play.all_turns():
            sink.turn(turn)
        self._wait(play, request, session)
        usage = play.all_usage()
        sink.usage(usage)
        if play.fail is not None:
            raise _failure(play, session)
        structured = _structured(play)
        text = None if structured is not None else play.text()
        said = text or json.dumps(structured)
        mark = self._sessions.add(session, request.parts.instruction, said)
        return AgentReply(
            text=text,
            structured=structured,
            session=session,
            continuation=continuation,
            proof=proof,
            usage=usage,
            model=play.model,
            agent_version=__version__,
            stop_reason="end_turn",
            denials=play.denials,
            mark=mark,
        )

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """A copy of the session under a new id, up to the mark `at`: a number of exchanges.

        Raises:
            SessionLost: unknown session.
        """
        return self._sessions.fork(session, at)

    def ask(self, request: "AskRequest", sink: TurnSink) -> AgentReply:
        """The script's `answer`, or the last text of that session.

        Raises:
            SessionLost: unknown session.
        """
        session = request.session
        if session is None:
            text = f"All I know is the record: {request.record.strip()}"
            return AgentReply(text=text, usage=NO_USAGE, agent_version=__version__)
        said = self._sessions.said(session)
        scripted = self._answer(request)
        last = said[-1] if said else "nothing"
        text = scripted or f"You ask: {request.question}\nWhat I said last was: {last}"
        self._sessions.add(session, request.question, text)
        return AgentReply(
            text=text,
            session=session,
            continuation="continued",
            proof=f"the session's file has {len(said)} earlier exchanges",
            usage=NO_USAGE,
            agent_version=__version__,
        )

    def close(self) -> None:
        """Do nothing: no resources stay open."""

    def _script(self, request: "AgentRequest | AskRequest") -> tuple[str, Script]:
        named = self._options.script or request.env.get(SCRIPT_VARIABLE)
        if not named:
            raise BadRequest(
                "the mock agent has no script",
                hint=f"name one: {SCRIPT_VARIABLE}=script.yaml, or the option `script` of an alias",
            )
        file = os.path.abspath(named)
        return file, read_script(file)

    def _next_play(self, request: AgentRequest) -> Play:
        file, script = self._script(request)
        index = request.step_number - 1
        step = script.step(index)
        if script.by_role:
            visit = self._visit(file, request) if script.count_of(request.role) > 1 else 0
            step = script.step_of(request.role, visit)
            if step is None:
                message = f"the mock's script {file} has no step of the role {request.role!r}"
                raise BadRequest(message, hint="add one")
        if step is None:
            raise BadRequest(
                f"the mock's script {file} has {len(script.steps)} steps, and step "
                f"{request.step_number} of the thread, by the role {request.role!r}, is beyond it",
                hint="add a step, or `repeat: true`",
            )
        if step.role != request.role:
            raise BadRequest(
                f"step {request.step_number} of the mock's script {file} is for the role "
                f"{step.role!r}, and the thread is at the role {request.role!r}"
            )
        plays = step.plays()
        calls = self._file(file, request, str(index))
        count = _count(calls) if len(plays) > 1 else 0
        play = plays[min(count, len(plays) - 1)]
        if play.question is not None and request.answer is None:
            raise NeedsAnswer(play.question.message, play.question.form)
        if len(plays) > 1:
            _write(calls, str(count + 1))
        return play

    def _visit(self, file: str, request: AgentRequest) -> int:
        """How many other steps of its thread the role has played before this one."""
        record = self._file(file, request, re.sub(r"\W", "_", request.role))
        numbers = _read(record, "replace").split() if os.path.isfile(record) else []
        own = str(request.step_number)
        if own not in numbers:
            numbers.append(own)
            _write(record, " ".join(numbers))
        return numbers.index(own)

    def _file(self, script: str, request: AgentRequest, name: str) -> str:
        thread = re.sub(r"\W", "_", request.thread)
        return f"{self._calls}/{crc32(script.encode()):08x}-{thread}-{name}"

    def _answer(self, request: "AskRequest") -> str | None:
        if not (self._options.script or request.env.get(SCRIPT_VARIABLE)):
            return None
        step = self._script(request)[1].step(request.step_number - 1)
        return None if step is None else step.answer

    def _session(self, request: AgentRequest) -> tuple[str, Continuation, str | None]:
        if request.session is None:
            return self._sessions.new(), "new", None
        size = self._sessions.size(request.session)
        return request.session, "continued", f"the session's file has {size} bytes"

    def _wait(self, play: Play, request: AgentRequest, session: str) -> None:
        if play.hang:
            request.cancel.wait()
        pause = play.delay_ms / 1000
        file = play.until_file and os.path.join(request.cwd, play.until_file)
        while not request.cancel.wait(pause):
            if not file or os.path.exists(file):
                return
            pause = _LOOK_SECONDS
        raise AgentInterrupted("the mock agent was cancelled", session=session)


class _Sessions:
    """The files of the sessions: JSON lines `{instruction, said}`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def new(self) -> str:
        """A new, empty session."""
        session = f"mock-{os.urandom(6).hex()}"
        make_folder(self._folder)
        os.close(os.open(self._file(session), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return session

    def size(self, session: str) -> int:
        """The size of the session's file in bytes."""
        return os.stat(self._existing(session)).st_size

    def said(self, session: str) -> list[str]:
        """The texts of the session, oldest first."""
        lines = _read(self._existing(session)).splitlines()
        return [json.loads(line)["said"] for line in lines]

    def add(self, session: str, instruction: str, said: str) -> str:
        """Add an exchange; the number of exchanges."""
        line = json.dumps({"instruction": instruction, "said": said})
        try:
            opened = os.open(self._file(session), os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            raise _lost(session) from None
        with os.fdopen(opened, "r+b") as file:
            count = file.read().count(b"\n")
            file.write(f"{line}\n".encode())
        return str(count + 1)

    def fork(self, session: str, at: str | None) -> str:
        """A copy of the session, or of its first `at` exchanges."""
        lines = _read(self._existing(session)).splitlines(keepends=True)
        forked = self.new()
        _write(self._file(forked), "".join(lines if at is None else lines[: int(at)]))
        return forked

    def _existing(self, session: str) -> str:
        file = self._file(session)
        if not os.path.isfile(file):
            raise _lost(session)
        return file

    def _file(self, session: str) -> str:
        if not re.fullmatch(r"[\w-]+", session):
            raise SessionLost(f"{session!r} is not a session of the mock agent")
        return f"{self._folder}/{session}.jsonl"


def _lost(session: str) -> SessionLost:
    return SessionLost(f"the mock agent has no session {session!r}", session=session)


def _structured(play: Play) -> dict[str, object] | None:
    if play.suspend is None:
        return play.structured
    output: dict[str, object] = {"$status": "$SUSPEND", "reason": play.suspend.reason}
    if play.suspend.form is not None:
        output["form"] = play.suspend.form
    return output


def _failure(play: Play, session: str) -> AgentFailure:
    assert play.fail is not None
    kind = FailureKind.of(play.fail.kind)
    return AgentFailure.of(kind, play.fail.message, until_ms=play.fail.until_ms, session=session)


def _count(file: str) -> int:
    """The number in a file; 0 if a power cut has emptied it, since nothing is synced here."""
    text = _read(file, "replace") if os.path.isfile(file) else ""
    return int(text) if text.isdecimal() else 0


def _read(file: str, errors: str = "strict") -> str:
    with open(file, encoding="utf-8", errors=errors) as stream:
        return stream.read()


def _write(file: str, text: str) -> None:
    """Write a small file atomically, readable only by its owner."""
    folder, name = os.path.split(file)
    make_folder(folder)
    part = os.path.join(folder, f".{name}.{os.getpid()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(text)
    os.replace(part, file)
