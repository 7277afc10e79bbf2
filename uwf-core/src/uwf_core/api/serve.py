"""Serve an agent plugin as a command of the command protocol.

    from uwf_core.api.serve import serve_agent
    from my_adapter.plugin import uwf_agents

    def main() -> int:
        return serve_agent(uwf_agents()[0])

The command is called as `<command> --thread ID --role R --prompt TEXT [--mode run|fork|ask]
[--session ID | --fork ID]`; `UWF_REQUEST` names the JSON file with the whole request, `UWF_EVENTS`
the file that turns, session and usage are appended to. The last line on stdout is the reply.
Without `UWF_REQUEST`, as in a shell, `--prompt` is the whole prompt.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.agent import (
    Agent,
    AgentContext,
    AgentReply,
    AgentRequest,
    AgentSpec,
    AskRequest,
    PromptParts,
    Purpose,
    RunLimits,
    Turn,
    Usage,
)
from uwf_core.api.models import Model
from uwf_core.api.moments import moment_ms
from uwf_core.errors import AgentFailure, ExitCode, FailureKind, NeedsAnswer, UwfError
from uwf_core.fields.mismatch import FieldFault
from uwf_core.fields.records import read_options, read_record, write_record
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    from uwf_core.api.tool import LoadedTool

PROTOCOL = 1
REQUEST_VARIABLE, EVENTS_VARIABLE = "UWF_REQUEST", "UWF_EVENTS"


@dataclass(frozen=True, kw_only=True)
class RequestDocument:
    """The content of the file `UWF_REQUEST`: the fields of `AgentRequest` and of `AskRequest` that
    another process can use.
    """

    protocol: int = PROTOCOL
    thread: str | None = None
    role: str | None = None
    step_number: int = 1
    cwd: str | None = None
    session: str | None = None
    at: str | None = None
    model: Model | None = None
    options: dict[str, Any] | None = None
    limits: RunLimits = RunLimits()
    purpose: Purpose = "run"
    prompt: str | None = None
    parts: PromptParts = PromptParts()
    schema: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    tools: tuple[str, ...] | None = None
    trusted: bool = False
    question: str | None = None
    record: str = ""


def serve_agent(
    spec: AgentSpec,
    arguments: Sequence[str] | None = None,
    *,
    tools: Callable[[], "Sequence[LoadedTool]"] | None = None,
    model: Callable[[Model], Model] | None = None,
) -> int:
    """Answer one call of the command protocol with the agent of `spec`; the exit code.

    Every failure becomes the `error` of the reply. SIGTERM and SIGINT set the cancel token.

    Args:
        tools: returns the tools for `AgentContext.tools`, for agents with a loop of tool calls;
            `uwf_core.serving.installed_tools` returns those of plugins. None: no tools.
        model: returns the model of the request with its protocol loaded, for agents that call it;
            `uwf_core.serving.with_protocol` loads those of plugins. None: protocols of uwf alone.
    """
    call = _parser(spec).parse_args(arguments)
    cancel = Cancel()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda which, _: cancel.set(signal.Signals(which).name))
    # The output of the agent's libraries must not follow the reply.
    answer, code = sys.stdout, ExitCode.DONE
    sys.stdout = sys.stderr
    try:
        document = _answered(spec, call, cancel, tools, model)
    except (UwfError, FieldFault) as fault:
        document, code = _error(fault), _exit_code(fault)
    finally:
        sys.stdout = answer
    print(json.dumps(document), flush=True)
    return code


def _parser(spec: AgentSpec) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=f"{spec.name}: {spec.summary}")
    parser.add_argument("--thread", required=True, help="the thread's id")
    parser.add_argument("--role", required=True, help="the role to play")
    parser.add_argument("--prompt", required=True, help="the instruction of this call")
    parser.add_argument("--mode", choices=("run", "fork", "ask"), default="run")
    parser.add_argument("--session", help="the session to continue, fork or ask")
    parser.add_argument("--fork", help="the session to fork with the prompt of this run")
    return parser


def _answered(
    spec: AgentSpec,
    call: argparse.Namespace,
    cancel: Cancel,
    tools: Callable[[], "Sequence[LoadedTool]"] | None,
    model: Callable[[Model], Model] | None,
) -> dict[str, Any]:
    document = _document()
    if model is not None and document.model is not None:
        document = replace(document, model=model(document.model))
    given = {} if tools is None else {"tools": tools}
    agent = _agent(spec, document, given)
    sink = _EventFile(os.environ.get(EVENTS_VARIABLE))
    try:
        if call.mode == "fork":
            request = _run_request(document, call, cancel)
            at = {} if document.at is None else {"at": document.at}
            forked = agent.fork(call.session or "", request, **at)
            return {"continuation": "forked"} if forked is None else {"sessionId": forked}
        if call.mode == "ask":
            return _reply(agent.ask(_ask_request(document, call, cancel), sink))
        return _reply(agent.run(_run_request(document, call, cancel), sink))
    finally:
        sink.close()
        agent.close()


def _document() -> RequestDocument:
    file = os.environ.get(REQUEST_VARIABLE)
    if not file:
        return RequestDocument()
    try:
        mapping = json.loads(Path(file).read_bytes())
    except (OSError, ValueError) as fault:
        raise FieldFault((REQUEST_VARIABLE,), f"cannot be read: {fault}") from fault
    return read_record(RequestDocument, mapping, lenient=True)


def _agent(spec: AgentSpec, document: RequestDocument, given: Mapping[str, Any]) -> Agent:
    options = None
    if spec.options is not None:
        options = read_options(_imported(spec.options), document.options or {}, where="options")
    home = os.environ.get("UWF_HOME") or str(Path("~/.uwf").expanduser())
    context = AgentContext(name=spec.name, state_dir=str(Path(home, "agents", spec.name)), **given)
    agent: Agent = _imported(spec.factory)(options, context)
    return agent


def _imported(path: str) -> Any:
    module, _, attribute = path.partition(":")
    found: Any = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


def _call_fields(
    document: RequestDocument, call: argparse.Namespace, cancel: Cancel
) -> dict[str, Any]:
    kept = (REQUEST_VARIABLE, EVENTS_VARIABLE)
    return {
        "thread": call.thread,
        "role": call.role,
        "step_number": document.step_number,
        "cwd": document.cwd or str(Path.cwd()),
        "session": call.session or call.fork,
        "model": document.model,
        "tools": document.tools,
        "trusted": document.trusted,
        "limits": document.limits,
        "env": {name: value for name, value in os.environ.items() if name not in kept},
        "cancel": cancel,
    }


def _run_request(
    document: RequestDocument, call: argparse.Namespace, cancel: Cancel
) -> AgentRequest:
    return AgentRequest(
        **_call_fields(document, call, cancel),
        purpose=document.purpose,
        prompt=document.prompt or call.prompt,
        parts=document.parts,
        schema=document.schema or {},
        answer=document.answer,
        forks=call.fork is not None,
    )


def _ask_request(document: RequestDocument, call: argparse.Namespace, cancel: Cancel) -> AskRequest:
    return AskRequest(
        **_call_fields(document, call, cancel),
        question=document.question or call.prompt,
        record=document.record,
    )


def _reply(reply: AgentReply) -> dict[str, Any]:
    document: dict[str, Any] = write_record(reply)
    text, structured = document.pop("text"), document.pop("structured")
    session = document.pop("session")
    return {"output": structured if text is None else text, "sessionId": session, **document}


def _error(fault: UwfError | FieldFault) -> dict[str, Any]:
    if isinstance(fault, NeedsAnswer):
        error = {"kind": "needs_answer", "message": fault.message, "form": fault.form}
        return {"error": error}
    if isinstance(fault, AgentFailure):
        message = f"{fault.message} ({fault.hint})" if fault.hint else fault.message
        until = moment_ms(fault.until_ms)
        failed = {"kind": fault.kind.word, "message": message, "until": until}
        return {"error": failed, "sessionId": fault.session}
    return {"error": {"kind": FailureKind.BAD_REQUEST.word, "message": str(fault)}}


def _exit_code(fault: UwfError | FieldFault) -> int:
    return fault.exit_code if isinstance(fault, UwfError) else ExitCode.USAGE


class _EventFile:
    """The sink: appends each event as one line."""

    def __init__(self, file: str | None) -> None:
        self._lock = threading.Lock()
        self._descriptor = None if not file else os.open(file, os.O_WRONLY | os.O_APPEND)

    def turn(self, turn: Turn) -> None:
        """Append a turn."""
        self._append({"turn": write_record(turn)})

    def session(self, session: str) -> None:
        """Append the session's id."""
        self._append({"session": session})

    def usage(self, usage: Usage) -> None:
        """Append what was used so far."""
        self._append({"usage": write_record(usage)})

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _append(self, event: Mapping[str, Any]) -> None:
        data = json.dumps(event).encode() + b"\n"
        with self._lock:
            while data and self._descriptor is not None:
                data = data[os.write(self._descriptor, data) :]
