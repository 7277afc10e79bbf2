"""What `uwf agent check` asks: is the program there, and what does it announce."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from uwf_agent_acp.agent import known as agents
from uwf_agent_acp.agent.known import KnownAgent
from uwf_agent_acp.agent.options import AcpOptions
from uwf_agent_acp.agent.process import AcpProcess
from uwf_agent_acp.agent.turn_builder import TurnBuilder
from uwf_agent_acp.protocol.client import AgentInfo
from uwf_agent_acp.protocol.errors import AcpError, RpcError
from uwf_core.api import (
    AgentContext,
    AgentFailure,
    BadRequest,
    Check,
    CheckRequest,
    CheckResult,
    NoSink,
    RunLimits,
    trial_check,
)

_SECONDS = 20.0


def checks_of(known: KnownAgent, request: CheckRequest) -> Sequence[Check]:
    """The checks of an agent with the options of the request; the last one is a real call."""
    options = request.options if isinstance(request.options, AcpOptions) else AcpOptions()
    looks: dict[str, Any] = {"program": _program, "folder": _folder}
    if _found(known, request, options) is not None:
        looks["protocol"] = _protocol
        if request.trial:
            looks["trial"] = _trial
    return [
        Check(name=name, run=partial(look, known, request, options)) for name, look in looks.items()
    ]


def _found(known: KnownAgent, request: CheckRequest, options: AcpOptions) -> str | None:
    path = {**request.env, **options.environment}.get("PATH")
    try:
        return shutil.which(known.command(options)[0], path=path)
    except BadRequest:  # the check of the program reports it
        return None


def _program(known: KnownAgent, request: CheckRequest, options: AcpOptions) -> CheckResult:
    try:
        argv = known.command(options)
    except BadRequest as refusal:
        return CheckResult.of_failure(refusal)
    path = _found(known, request, options)
    if path is None:
        message = f"there is no program {argv[0]!r}"
        return CheckResult(state="error", message=message, hint=known.install_hint)
    return CheckResult(state="ok", message=path)


def _folder(known: KnownAgent, request: CheckRequest, _options: AcpOptions) -> CheckResult:
    """Whether it may work in this folder: most programs obey what a folder's settings say."""
    if known.untrusted_meta:
        return CheckResult(state="ok", message="obeys no settings of a folder that is not trusted")
    words = f"{known.entry.title} may run what settings in a folder say"
    if request.trusted:
        return CheckResult(state="ok", message=f"{words}; you trust {request.cwd}")
    return CheckResult(
        state="warning",
        message=f"{words}, so it works only where you trust them: not in {request.cwd}",
        hint="next: uwf config trust",
    )


def _protocol(known: KnownAgent, request: CheckRequest, options: AcpOptions) -> CheckResult:
    """What the agent announces; it runs in an empty folder, so no project can change it."""
    call = replace(request, limits=RunLimits(seconds=_SECONDS, grace_seconds=1.0), trusted=True)
    profile = known.agent(options, _context(request)).profile_of(call, is_question=False)
    try:
        Path(request.state_dir).mkdir(mode=0o700, parents=True, exist_ok=True)
        call = replace(call, cwd=request.state_dir)
        builder = TurnBuilder(NoSink(), lambda _request: None)
        with AcpProcess(call, profile, builder, {}) as program:
            info = program.begin()
            try:
                program.client.open_session("new", request.state_dir)
            except RpcError as error:
                return CheckResult(
                    state="error",
                    message=f"{_described(known, info)}; it cannot begin a session: {error}",
                    hint="sign in with the agent's own program, or name its key in `env` of the "
                    "alias",
                )
    except (AcpError, AgentFailure) as error:
        return CheckResult(
            state="error",
            message=f"`{' '.join(known.command(options))}` does not speak the protocol: {error}",
            hint="its arguments: agents -> ALIAS -> options -> arguments",
        )
    return CheckResult(state="ok", message=_described(known, info))


def _described(known: KnownAgent, info: AgentInfo) -> str:
    loads = not known.loads_damaged and (info.can_load or info.can("resume"))
    continues = "continues" if loads else "cannot continue"
    forks = "forks" if info.can("fork") else "cannot fork"
    return f"{info.name or 'an agent'} {info.version or ''}".rstrip() + f": {continues}, {forks}"


def _trial(known: KnownAgent, request: CheckRequest, options: AcpOptions) -> CheckResult:
    """One tiny request to the model, in a new session."""
    agent = known.agent(options, _context(request))
    return trial_check(agent, request, replace(options, permission="deny"))


def _context(request: CheckRequest) -> AgentContext:
    return AgentContext(name=request.name, state_dir=request.state_dir)


ANY, OPENCODE, GEMINI, CODEX, GOOSE, QWEN, CLAUDE_CODE = (
    partial(checks_of, each)
    for each in (
        agents.ANY,
        agents.OPENCODE,
        agents.GEMINI,
        agents.CODEX,
        agents.GOOSE,
        agents.QWEN,
        agents.CLAUDE_CODE,
    )
)
