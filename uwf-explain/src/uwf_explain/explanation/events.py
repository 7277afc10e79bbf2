"""What happened in a run besides its steps: questions, limits, cancellation."""

from typing import TYPE_CHECKING, Any

from uwf_explain.explanation.statements import Statement
from uwf_explain.explanation.words import cost, duration, moment, on, program, quoted

if TYPE_CHECKING:
    from uwf_core.api import RecordedEvent

_LIMITS = {
    "maxSteps": "steps",
    "maxTokens": "tokens",
    "maxCostUsd": "US dollars",
    "maxMinutes": "minutes of work",
    "maxVisits": "runs of the role",
    "maxElapsed": "with all that it waited for",
    "maxUnchanged": "runs of the role without progress",
}


def event_statement(event: "RecordedEvent") -> Statement:
    """The sentence about an event that is neither a step nor the first one."""
    return _SENTENCES[event.kind](event)


def _asked(event: "RecordedEvent") -> Statement:
    to, payload = event.payload["next"], event.payload
    who = f"{payload['role']} ({program(payload['agent'])})"
    text = f"On {moment(payload['atMs'])} the {who} asked a person{_took(payload)}, and waited:"
    refs = (event.ref,) if to["question"] is None else (to["question"], event.ref)
    brief = f"The {payload['role']} asked a person:"
    return Statement("question", text, refs, to["message"], brief=brief)


def _took(payload: Any) -> str:
    if payload["usage"]["turns"] == 0:
        return ""
    elapsed = duration(payload["completedAtMs"] - payload["startedAtMs"])
    if payload["usage"]["turns"] is None:
        return f" after {elapsed} of work (its cost is not known)"
    return f" after {elapsed} of work ({cost(payload['usage']).removesuffix('.')})"


def _called(event: "RecordedEvent") -> Statement:
    payload = event.payload
    text = (
        f"On {moment(payload['atMs'])} step {payload['number']} (the role "
        f"{quoted(payload['role'])}) of the run {payload['parent']} called this run. To read why "
        "that run went as it did:"
    )
    command = f"uwf thread why {payload['parent']}"
    refs = (event.ref, payload["parentHead"])
    return Statement("called", text, refs, command=command)


def _compacted(event: "RecordedEvent") -> Statement:
    payload = event.payload
    who = on(payload["atMs"], payload["by"])
    if event.origin is not None:
        text = f"The run took over a summary of earlier steps from the run {event.origin}:"
    elif payload["agent"] is None:
        text = f"{who} wrote a summary of earlier steps. New sessions got it in place of these:"
    else:
        text = (
            f"{who} had earlier steps summarized by {program(payload['agent'])} "
            f"({cost(payload['usage']).removesuffix('.')}). New sessions got the summary in place "
            "of these:"
        )
    refs = (payload["step"], payload["summary"], event.ref)
    return Statement("compacted", text, refs, event.summary, brief=text)


def _expired(event: "RecordedEvent") -> Statement:
    payload = event.payload
    to = payload["next"]["role"] if payload["next"]["status"] == "idle" else None
    then = "The attempt failed." if to is None else f"The {to} took over."
    text = (
        f"Nobody answered the {payload['role']} before {moment(payload['deadline'])}, so its "
        f"question expired. {then}"
    )
    return Statement("expired", text, (event.ref,), brief=text)


def _granted(event: "RecordedEvent") -> Statement:
    who = on(event.payload["atMs"], event.payload["by"])
    amounts = event.payload["amounts"].items()
    more = ", ".join(
        f"{_figure(name, amount)} more {_LIMITS.get(name, name)}" for name, amount in amounts
    )
    text = f"{who} allowed the run to continue beyond its limit: {more}."
    return Statement("granted", text, (event.ref,), brief=text)


def _limit(event: "RecordedEvent") -> Statement:
    payload = event.payload
    unit = _LIMITS.get(payload["limit"], payload["limit"])
    used, value = (_figure(payload["limit"], payload[key]) for key in ("used", "value"))
    cycle = payload["next"]["message"] if payload["limit"] == "maxUnchanged" else None
    text = (
        f"On {moment(payload['atMs'])} the run reached the limit {payload['limit']} of "
        f"{payload['origin']}: {used} of {value} {unit}"
        f"{_reserved(payload)}. It stopped until a person decides."
    )
    return Statement("limit", text, (event.ref,), cycle, brief=text)


def _figure(limit: str, value: float) -> str:
    return duration(round(value * 1000)) if limit == "maxElapsed" else f"{value:g}"


def _reserved(payload: Any) -> str:
    if payload["used"] >= payload["value"]:
        return ""
    return f", while the next steps may use {payload['reserved']:g}"


def _unrouted(event: "RecordedEvent") -> Statement:
    text = "No further step could be run, because of the workflow or a folder:"
    return Statement("unrouted", text, (event.ref,), event.payload["next"]["message"], brief=text)


def _tagged(event: "RecordedEvent") -> Statement:
    payload = event.payload
    given = ", ".join(
        f"{name}={value}" if value is not None else f"{name} (removed)"
        for name, value in sorted(payload["tags"].items())
    )
    text = f"{on(payload['atMs'], payload['by'])} tagged the run: {given}."
    return Statement("tagged", text, (event.ref,))


def _cancelled(event: "RecordedEvent") -> Statement:
    who = on(event.payload["atMs"], event.payload["by"])
    text = f"{who} cancelled the run. It cannot be continued."
    if event.payload["cause"] == "parent":
        text = "The run that called this one took the edge of its failure. It cannot be continued."
    return Statement("cancelled", text, (event.ref,), brief=text)


def _worktree(event: "RecordedEvent") -> Statement:
    payload = event.payload
    text = (
        f"The run got a separate copy of the files, the git worktree {payload['folder']} on the "
        f"branch {payload['branch']}. It began with commit {payload['base']}, the state of "
        f"{payload['origin']}."
    )
    return Statement("worktree", text, (event.ref,))


_SENTENCES = {
    "asked": _asked,
    "called": _called,
    "compacted": _compacted,
    "worktree": _worktree,
    "expired": _expired,
    "granted": _granted,
    "limit": _limit,
    "unrouted": _unrouted,
    "tagged": _tagged,
    "cancelled": _cancelled,
}
