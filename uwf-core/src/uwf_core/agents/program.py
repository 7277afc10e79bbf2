"""The program of a role behind the contract of an agent: no model, no session, no prompt.

Its exit code alone decides `$status`; the other fields are the JSON object on its last line, or
else what it printed.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from uwf_core.agents.wire import NoJson, json_object
from uwf_core.api.agent import AgentReply, AgentRequest, AskRequest, ToolCall, Turn, TurnSink
from uwf_core.api.extract import NO_USAGE
from uwf_core.errors import BadRequest, Crashed
from uwf_core.process.failure import crashed, failure_of
from uwf_core.process.program import End, ProgramResult
from uwf_core.workflow.variants import STATUS, variants

OUTPUT_BYTES = 32 * 1024
"""How much of the end of stdout and of stderr is kept, in the turns and in the output."""
_LIVE_BYTES = 2 * 1024
"""How much of the end of stdout is reported while it runs."""
_REPORT_SECONDS = 0.5
_REPORT_SHARE = 0.01
"""The interval of these reports: at least so long, and so much of the time since its start. All of
them together stay far below the limit of a call's turns, however long it runs.
"""


class ProgramCall(NamedTuple):
    """The options of a request to a program: its rendered arguments, and the `$status` of each exit
    code.
    """

    argv: tuple[str, ...]
    statuses: Mapping[str, str]


class ProgramAgent:
    """Runs the program of a request; the options of the request are a `ProgramCall`."""

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """Run the program; its output is the reply.

        Raises:
            Crashed: it ended by a signal, or its exit code has no status.
            AgentFailure: it could not be started, or was ended.
        """
        call: ProgramCall = request.options
        sink.usage(NO_USAGE)
        report = _Report(request.prompt, call.argv[0], sink)
        result = request.run_program(call.argv, on_line=report.line)
        report.end(result)
        status = _status(call, result)
        usage = replace(NO_USAGE, duration_ms=result.duration_ms)
        output = {**_fields(request.schema, status, result), STATUS: status}
        return AgentReply(structured=output, usage=usage, stop_reason=f"exit {result.exit_code}")

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """Never called: a program has no session.

        Raises:
            BadRequest: always.
        """
        raise BadRequest("a program has no session to fork")

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Never called.

        Raises:
            BadRequest: always.
        """
        raise BadRequest("a program cannot be asked")

    def close(self) -> None:
        """Do nothing."""


class _Report:
    """What the program prints, as turns: its command with the end of stdout, then its stderr."""

    def __init__(self, command: str, name: str, sink: TurnSink) -> None:
        self._command = command
        self._name = name
        self._sink = sink
        self._began_ms = time.time_ns() // 1_000_000
        self._began = self._reported_at = time.monotonic()
        self._stdout = bytearray()

    def line(self, line: bytes) -> None:
        """Keep a line; report all so far, now and then."""
        self._stdout += line + b"\n"
        del self._stdout[:-_LIVE_BYTES]
        now = time.monotonic()
        interval = max(_REPORT_SECONDS, (now - self._began) * _REPORT_SHARE)
        if now - self._reported_at >= interval:
            self._reported_at = now
            self._call(bytes(self._stdout))

    def end(self, result: ProgramResult) -> None:
        """Report all of it."""
        is_error = result.end is not End.EXITED or result.exit_code != 0
        self._call(result.stdout, is_error=is_error, ended_ms=self._began_ms + result.duration_ms)
        if result.stderr:
            self._sink.turn(Turn(index=1, role="note", text=_end_of(result.stderr)))

    def _call(self, stdout: bytes, *, is_error: bool = False, ended_ms: int | None = None) -> None:
        call = ToolCall(
            id="0",
            name=self._name,
            arguments=self._command,
            result=_end_of(stdout),
            is_error=is_error,
            started_ms=self._began_ms,
            ended_ms=ended_ms,
        )
        self._sink.turn(Turn(index=0, role="tool", tool_calls=(call,)))


def _status(call: ProgramCall, result: ProgramResult) -> str:
    """The `$status` of the exit code."""
    program = f"the program {call.argv[0]!r}"
    if result.end is not End.EXITED:
        failure = failure_of(result, program)
        assert failure is not None
        raise failure
    status = call.statuses.get(str(result.exit_code))
    if status is None:
        failure = crashed(result, program)
        if result.exit_code < 0:  # a signal, which can have no status
            raise failure
        known = ", ".join(sorted(call.statuses, key=int))
        raise Crashed(
            failure.message,
            hint=f"the role's `statuses` has the exit codes {known}; add this one if it is a "
            "result and not an error",
        )
    return status


def _fields(schema: Mapping[str, Any], status: str, result: ProgramResult) -> Mapping[str, Any]:
    """The JSON object on the last line of stdout, else `stdout` and `stderr` if declared."""
    lines = result.stdout.rstrip().rsplit(b"\n", 1)
    try:
        return json_object(lines[-1])
    except NoJson:
        declared = {
            name for each in variants(schema) if each.status == status for name in each.properties
        }
        printed = {"stdout": result.stdout, "stderr": result.stderr}
        return {name: _end_of(data) for name, data in printed.items() if name in declared}


def _end_of(data: bytes) -> str:
    """The end of an output as text, cut between characters."""
    tail = data[-OUTPUT_BYTES:]
    if len(tail) < len(data):
        while tail and tail[0] & 0xC0 == 0x80:  # the rest of a character
            tail = tail[1:]
    return tail.decode(errors="replace")
