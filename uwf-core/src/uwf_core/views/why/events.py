"""What happened in a thread besides its steps: questions, limits, cancellation."""

from typing import TYPE_CHECKING, Any

from uwf_core.views.why.statements import Statement
from uwf_core.views.why.words import cost, duration, person

if TYPE_CHECKING:
    from uwf_core.api.reading import RecordedEvent

_LIMITS = {
    "maxSteps": "steps",
    "maxTokens": "tokens",
    "maxCostUsd": "US dollars",
    "maxMinutes": "minutes of work",
}


def event_statement(event: "RecordedEvent") -> Statement:
    """The sentence about an event that is neither a step nor the first one."""
    return _SENTENCES[event.kind](event)


def _asked(event: "RecordedEvent") -> Statement:
    to, who = event.payload["next"], event.payload["role"]
    text = f"The {who} (agent {event.payload['agent']}) asked a person{_took(event.payload)}:"
    question = to["question"]
    refs = (event.ref,) if question is None else (question, event.ref)
    return Statement("question", text, refs, to["message"])


def _took(payload: Any) -> str:
    if payload["usage"]["turns"] == 0:
        return ""
    elapsed = duration(payload["completedAtMs"] - payload["startedAtMs"])
    used = cost(payload["usage"]).removesuffix(".")
    return f" after {elapsed} of work ({used})"


def _granted(event: "RecordedEvent") -> Statement:
    who = person(event.payload["by"])
    text = f"{who} allowed the thread to continue beyond its limit: the same amount once more."
    return Statement("granted", text, (event.ref,))


def _limit(event: "RecordedEvent") -> Statement:
    payload = event.payload
    unit = _LIMITS.get(payload["limit"], payload["limit"])
    text = (
        f"The thread reached the limit {payload['limit']} of its workflow: {payload['used']:g} of "
        f"{payload['value']:g} {unit}. It stopped until a person decides."
    )
    return Statement("limit", text, (event.ref,))


def _unrouted(event: "RecordedEvent") -> Statement:
    text = "No further step could be run, because of the workflow or a folder:"
    return Statement("unrouted", text, (event.ref,), event.payload["next"]["message"])


def _cancelled(event: "RecordedEvent") -> Statement:
    text = f"{person(event.payload['by'])} cancelled the thread. It cannot be continued."
    return Statement("cancelled", text, (event.ref,))


_SENTENCES = {
    "asked": _asked,
    "granted": _granted,
    "limit": _limit,
    "unrouted": _unrouted,
    "cancelled": _cancelled,
}
