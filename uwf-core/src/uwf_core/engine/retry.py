"""The policy of retries: which failed attempts are made again by themselves, and how often."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from uwf_core.api.retry import Retry
from uwf_core.engine.waiting import allowed_wait
from uwf_core.errors import AgentFailure, FailureKind

if TYPE_CHECKING:
    from uwf_core.config.settings import Settings
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import RetryPayload
    from uwf_core.workflow.bound import Factor
    from uwf_core.workflow.definition import Role

_Origin = Literal["role", "config", "run", "worker", "tick"]

ONCE: Final = Retry(max_attempts=1)
"""The usual policy of commands: a person sees the failure and decides."""
UNWATCHED: Final = Retry(max_attempts=5, interval=1.0, backoff=4.0)
"""The usual policy where nobody watches."""

MOST_KILLS: Final = 5
"""How often workers run a step again that a signal or a kill has ended."""


def policy_of(run: "Run", attempt: "Attempt", failure: AgentFailure) -> "RetryPayload | None":
    """The policy for an attempt that failed: the role's, else the configured, else the usual one.
    None if a signal or a kill has ended it, which does not count.

    A limit that lasts longer than a run may wait leads to the next agent of `anyOf`, if there is
    one; a shorter one is waited for.
    """
    kind = failure.kind
    if kind is FailureKind.INTERRUPTED:
        return None
    role = run.definition.roles.get(attempt.payload["role"])
    origin: _Origin = "role"
    retry = None if role is None else role.retry
    if retry is None:
        origin, retry = "config", run.engine.settings.retry
    if retry is None:
        if run.options.worker is not None:
            origin, retry = "worker", UNWATCHED
        elif run.options.unattended:
            origin, retry = "tick", UNWATCHED
        else:
            origin, retry = "run", ONCE
    others, on = attempt.choice.others, retry.on
    if others and kind is FailureKind.RATE_LIMIT:
        if _may_wait(run, attempt, failure):
            others = ()
        else:
            on = tuple(word for word in on if word != kind.word)
    failures = 1 if attempt.by_person else attempt.head.state.failures + 1
    return _stored(retry._replace(on=on), failures, origin, others)


def policy_of_call(attempt: "Attempt") -> "RetryPayload":
    """The policy for a call whose thread has failed: what failed there has had its attempts."""
    return _stored(ONCE._replace(on=()), attempt.head.state.failures + 1, "run")


def _stored(
    retry: Retry, failures: int, origin: _Origin, fallback: Sequence[str] = ()
) -> "RetryPayload":
    return {
        "failures": failures,
        "maxAttempts": retry.max_attempts,
        "interval": retry.interval,
        "backoff": retry.backoff,
        "maxInterval": retry.max_interval,
        "on": list(retry.on),
        "origin": origin,
        "fallback": list(fallback),
    }


def most_attempts(settings: "Settings", path: str, role: "Role") -> "Factor":
    """How many attempts a step of a role takes at most; `path` names the role."""
    from uwf_core.workflow.bound import Factor  # for bounds alone

    longest = max([1, *(len(each.any_of) for each in settings.agents.values())])
    agents = 1 if role.program is not None else longest
    if role.retry is not None:
        return Factor(path, role.retry.max_attempts, "role", agents)
    if settings.retry is not None:
        return Factor(path, settings.retry.max_attempts, "config", agents)
    return Factor(path, UNWATCHED.max_attempts, "default", agents)


def _may_wait(run: "Run", attempt: "Attempt", failure: AgentFailure) -> bool:
    until_ms = failure.until_ms
    return until_ms is not None and until_ms - attempt.ended_ms <= allowed_wait(run) * 1000


def after_kill(state: "ThreadState") -> float | None:
    """After how many seconds a step that a signal or a kill has ended is run again without a
    person; None if a person has to decide, or something else has ended it.
    """
    is_killed = state.suspension is not None and state.suspension.reason == "interrupted"
    if not is_killed or state.kills >= MOST_KILLS:
        return None
    return 0 if state.kills <= 1 else 4.0 ** (state.kills - 1)
