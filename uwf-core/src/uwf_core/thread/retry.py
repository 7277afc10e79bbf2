"""Whether a failed attempt is made again by itself, and when. Pure: the decision follows from what
is stored of the attempt, so that `cas verify` derives it again.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from uwf_core.errors import CorruptNodeError
from uwf_core.thread.decisions import Substitute, runs, waits

if TYPE_CHECKING:
    from uwf_core.thread.decisions import Event
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import FailurePayload, NextPayload

JITTER: Final = 0.2
"""How much a pause varies, so that the attempts of many threads spread: a part of it."""


FALLS_BACK: Final = ("unavailable", "auth", "rate_limited")
"""The kinds of failures that lead to the next agent of `anyOf`: those of a service."""


def after_failure(
    failure: "FailurePayload", role: str, message: str, ended_ms: int, drawn: float = 0
) -> "NextPayload":
    """What follows a failed attempt: the role again, not before a time, or the thread is suspended.

    Args:
        failure: with the policy. role, message: of the attempt. ended_ms: when it ended.
        drawn: from -1 to 1: how much longer or shorter than usual the pause is.
    """
    kind, until = failure["kind"], failure["until"]
    not_before = _again_ms(failure, ended_ms, drawn)
    if not_before is None and _falls_back(failure):
        not_before = ended_ms
    if not_before is not None:
        return runs(role, kind=kind, until=until, notBefore=not_before)
    reason = "interrupted" if kind == "interrupted" else "failure"
    return waits(reason, role, message, kind=kind, until=until)  # type: ignore[arg-type]


def after_failed(state: "ThreadState", step: Mapping[str, Any]) -> "ThreadState":
    """The state after a failed attempt with who plays next, and how often runs died."""
    failure, role, found = step["failure"], step["role"], {**state.substitutes}
    if failure["kind"] == "interrupted":
        return state._replace(kills=state.kills + 1)
    if step["next"]["notBefore"] is None:  # a person decides, and all agents may play again
        if failure["kind"] in FALLS_BACK:
            found.pop(role, None)
        return state._replace(substitutes=found)
    if _again_ms(failure, step["completedAtMs"], 0) is not None:
        return state
    word, *left = failure["policy"]["fallback"]
    return state._replace(substitutes={**found, role: Substitute(word, left)}, failures=0, kills=0)


def words_in_turn(words: Sequence[str], first: Substitute) -> Sequence[str]:
    """The agents of `anyOf` in the order of their turn, `words` in that of the configuration."""
    known = [word for word in (first.word, *(first.left or ())) if word in words]
    if first.left is not None:
        return known or words
    at = words.index(known[0]) if known else 0
    return [*words[at:], *words[:at]]


def checked_failures(before: int, failed: "Event") -> int:
    """How many attempts have failed with this one, if its decision is one that its policy makes.

    Args:
        before: how many had failed before. failed: the step of the attempt.

    Raises:
        CorruptNodeError: it is not, or the policy counts otherwise.
    """
    policy = failed.payload["failure"]["policy"]
    failures: int = before if policy is None else policy["failures"]
    is_counted = policy is None or failures in (1, before + 1)
    if is_counted and _follows(failed.payload):
        return failures
    raise CorruptNodeError(
        f"the decision of the failed attempt {failed.ref} does not follow from its policy",
        hint="`uwf cas verify` names what is damaged",
    )


def _follows(step: Mapping[str, Any]) -> bool:
    failure, to, ended_ms = step["failure"], step["next"], step["completedAtMs"]
    least = after_failure(failure, step["role"], to["message"], ended_ms, -1)
    most = after_failure(failure, step["role"], to["message"], ended_ms, 1)
    if to["notBefore"] is None or least["notBefore"] is None or most["notBefore"] is None:
        return bool(to == least)
    is_between = least["notBefore"] <= to["notBefore"] <= most["notBefore"]
    return bool(is_between and to == {**least, "notBefore": to["notBefore"]})


def _falls_back(failure: "FailurePayload") -> bool:
    policy = failure["policy"]
    return policy is not None and bool(policy["fallback"]) and failure["kind"] in FALLS_BACK


def _again_ms(failure: "FailurePayload", ended_ms: int, drawn: float) -> int | None:
    policy = failure["policy"]
    if policy is None or failure["kind"] not in policy["on"]:
        return None
    if policy["failures"] >= policy["maxAttempts"]:
        return None
    pause = policy["interval"] * policy["backoff"] ** (policy["failures"] - 1)
    pause = min(pause, policy["maxInterval"]) * (1 + JITTER * drawn)
    return max(ended_ms + round(pause * 1000), failure["until"] or 0)
