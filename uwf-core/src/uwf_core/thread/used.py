"""What the attempts of a thread itself have used, by role, agent and model."""

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.sums import FIELDS, NOTHING_USED, UsagePayload, add_usage

if TYPE_CHECKING:
    from uwf_core.thread.decisions import Event

COMPACT = "$COMPACT"
"""The role of the summaries that agents wrote."""
_TOTALS = (*(name for name, _ in FIELDS), "atLeast")
_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Used(NamedTuple):
    """The sum of the attempts of a role by one agent with one model; `steps` of them succeeded. A
    call is not an attempt: the called thread has its own.
    """

    role: str
    agent: str | None
    model: str | None
    steps: int = 0
    attempts: int = 0
    ms: int = 0
    usage: UsagePayload = NOTHING_USED


def used_after(used: tuple[Used, ...], event: "Event") -> tuple[Used, ...]:
    """The sums after one more event."""
    payload, role = event.payload, COMPACT
    if event.kind in ("step", "asked"):
        call, role = payload.get("call"), payload["role"]
        if payload["agent"] is None or (
            call and (call["child"] is not None or call["children"] is not None)
        ):
            return used
    elif event.kind != "compacted" or payload["usage"] == NOTHING_USED:
        return used
    names = role, payload["agent"], payload.get("model")
    same = [each for each in used if each[:3] == names]
    own = same[0] if same else Used(*names)
    is_step = event.kind == "step" and payload["failure"] is None
    ms = payload["completedAtMs"] - payload["startedAtMs"]
    sums = own.steps + is_step, own.attempts + 1, own.ms + max(0, ms)
    others = [each for each in used if each is not own]
    return (*others, Used(*names, *sums, add_usage(own.usage, payload["usage"])))


def used_text(used: tuple[Used, ...]) -> str:
    """The sums as the text of a tag."""
    return _dump([(*each[:-1], [*each.usage.values()]) for each in used])


def used_in(text: str) -> tuple[Used, ...]:
    """The sums in the text of a tag.

    Raises:
        ValueError, TypeError: it is another text.
    """
    return tuple(Used._make([*names, totals_in(values)]) for *names, values in json.loads(text))


def totals_in(values: Any) -> UsagePayload:
    """The usage of which these are the values; raises as `used_in`."""
    return dict(zip(_TOTALS, values, strict=True))  # type: ignore[return-value]
