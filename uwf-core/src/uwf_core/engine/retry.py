"""The policy of retries: which failed attempts are made again by themselves, and how often."""

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
    kind, others = failure.kind, attempt.choice.others
    leaves = bool(others) and kind.word == "rate_limited"
    if leaves and _may_wait(run, attempt, failure):
        leaves, others = False, ()
    if kind is FailureKind.INTERRUPTED:
        return None
    role = run.definition.roles.get(attempt.payload["role"])
    origin: Literal["role", "config", "run", "worker", "tick"] = "role"
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
    return {
        "failures": 1 if attempt.by_person else attempt.head.state.failures + 1,
        "maxAttempts": retry.max_attempts,
        "interval": retry.interval,
        "backoff": retry.backoff,
        "maxInterval": retry.max_interval,
        "on": [word for word in retry.on if not leaves or word != kind.word],
        "origin": origin,
        "fallback": list(others),
    }


def policy_of_call(attempt: "Attempt") -> "RetryPayload":
    """The policy for a call whose thread has failed: what failed there has had its attempts."""
    return {
        "failures": attempt.head.state.failures + 1,
        "maxAttempts": ONCE.max_attempts,
        "interval": ONCE.interval,
        "backoff": ONCE.backoff,
        "maxInterval": ONCE.max_interval,
        "on": [],
        "origin": "run",
        "fallback": [],
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
