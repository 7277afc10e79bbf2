"""The checks that `uwf doctor` and `uwf agent check` run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

from uwf_core.api.agent import Agent, AgentRequest, Call, NoSink, RunLimits
from uwf_core.errors import AgentFailure, NeedsAnswer


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The result of a check.

    Attributes:
        state: `ok`, `warning` (it works, with a limitation) or `error`.
        message: what was found.
        hint: the fix.
    """

    state: Literal["ok", "warning", "error"]
    message: str
    hint: str | None = None

    @classmethod
    def of_failure(cls, failure: AgentFailure) -> Self:
        """An error, with the message and the hint of a failure."""
        return cls(state="error", message=failure.message, hint=failure.hint)


@dataclass(frozen=True, kw_only=True)
class Check:
    """A named check.

    Attributes:
        name: what is checked, in a few words.
        run: called in a child process with a time limit.
    """

    name: str
    run: Callable[[], CheckResult]


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Call):
    """The agent to check, with the options, environment and folder of a step; thread and role
    are empty.

    Attributes:
        name: the word that selected it, as in `AgentContext`.
        state_dir: the agent's own folder, as in `AgentContext`.
        trial: whether to send a request to the model, which may cost money.
    """

    name: str
    state_dir: str
    trial: bool = False


def trial_check(
    agent: Agent, request: CheckRequest, options: Any, seconds: float = 120.0
) -> CheckResult:
    """One tiny request to the model of `agent`, in a new session and without tools; `options` are
    those of the call.
    """
    call = AgentRequest(
        thread="check",
        role="check",
        step_number=0,
        cwd=request.cwd,
        options=options,
        limits=RunLimits(seconds=seconds, grace_seconds=2.0),
        env=request.env,
        trusted=request.trusted,
        cancel=request.cancel,
        tools=(),
        prompt="Answer with the one word: ok",
    )
    try:
        reply = agent.run(call, NoSink())
    except AgentFailure as failure:
        words = f"{failure.kind.word}: {failure.message}"
        return CheckResult(state="error", message=words, hint=failure.hint)
    except NeedsAnswer as question:
        return CheckResult(state="warning", message=question.message)
    cost = "" if reply.usage.cost_usd is None else f", {reply.usage.cost_usd:.4f} USD"
    return CheckResult(state="ok", message=f"{reply.model or 'the model'} answers{cost}")
