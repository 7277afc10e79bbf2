"""What the original recorded of a session: its turns, and the newest text of the agent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.api.sums import UsagePayload
from uwf_core.errors import MissingNodeError
from uwf_core.ids import Ref
from uwf_core.original.fields import NotImported, mapping, number, text, texts

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.original.nodes import NodeCopy

_LONGEST = 1_000_000

Turn = Mapping[str, Any]


class TurnChains:
    """The turns of steps in the chains of threads: each belongs to the start of a step."""

    def __init__(self, copy: "NodeCopy") -> None:
        self._copy = copy
        self._turns: dict[tuple[object, ...], list[str]] = {}

    def add(self, newest: str | None) -> None:
        """Read a chain from its newest turn back; one that is incomplete ends where it breaks."""
        found: list[tuple[str, str]] = []
        while newest is not None and len(found) < _LONGEST:
            try:
                turn = mapping(self._copy.node(newest).payload, "a turn")
            except (MissingNodeError, NotImported):
                break
            found.append((newest, text(turn, "owner")))
            newest = text(turn, "prev") or None
        for ref, owner in reversed(found):
            try:
                begun = mapping(self._copy.node(owner).payload, "the start of a step")
            except (MissingNodeError, NotImported):
                continue
            self._turns.setdefault(_key(begun), []).append(ref)

    def of(self, step: Mapping[str, Any]) -> list[Turn]:
        """The turns of a step, oldest first: those of its detail, else those of the chains."""
        try:
            detail = mapping(self._copy.node(text(step, "detail")).payload, "a detail")
            turns = [mapping(self._copy.node(each).payload, "a turn") for each in _refs(detail)]
        except MissingNodeError:
            turns, detail = [], {}
        if not turns and text(detail, "text"):
            return [{"role": "assistant", "content": text(detail, "text")}]
        chained = () if turns else self._turns.get(_key(step), ())
        return turns or [mapping(self._copy.node(each).payload, "a turn") for each in chained]


def session_of(copy: "NodeCopy", step: Mapping[str, Any]) -> str | None:
    """The session of a step, as its detail names it."""
    try:
        return (
            text(mapping(copy.node(text(step, "detail")).payload, "a detail"), "sessionId") or None
        )
    except MissingNodeError:
        return None


def reply_of(turns: list[Turn]) -> str:
    """The newest text of the agent, empty without one."""
    spoken = (text(turn, "content") for turn in reversed(turns) if turn.get("role") == "assistant")
    return next((each for each in spoken if each.strip()), "")


def save_detail(engine: "Engine", turns: list[Turn], session: str | None) -> Ref:
    """Store the turns of a step and their detail node."""
    refs = [str(_save_turn(engine, place, turn)) for place, turn in enumerate(turns)]
    return engine.nodes.put("detail", {"session": session, "turns": refs})


def _save_turn(engine: "Engine", place: int, turn: Turn) -> Ref:
    given = turn.get("toolCalls")
    calls = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    reasoning = text(turn, "reasoning")
    return engine.nodes.put(
        "turn",
        {
            "index": place,
            "role": text(turn, "role") or "note",
            "text": engine.store.put_text(text(turn, "content")),
            "reasoning": engine.store.put_text(reasoning) if reasoning else None,
            "toolCalls": [_call(number, call) for number, call in enumerate(calls)],
            "usage": None,
        },
    )


def _call(place: int, call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": str(place),
        "name": text(call, "name"),
        "arguments": text(call, "args", "arguments"),
        "result": None,
        "isError": False,
        "startedAtMs": None,
        "endedAtMs": None,
    }


def usage_of(step: Mapping[str, Any], duration_ms: int) -> UsagePayload:
    """The usage of a step. Its `duration` is in seconds or ms, by the version that wrote it, so the
    step's own times count.
    """
    given = step.get("usage")
    used = given if isinstance(given, dict) else {}
    return {
        "turns": number(used, "turns"),
        "inputTokens": number(used, "inputTokens"),
        "outputTokens": number(used, "outputTokens"),
        "cacheReadTokens": None,
        "cacheWriteTokens": None,
        "costUsd": None,
        "durationMs": duration_ms,
        "atLeast": [],
    }


def _key(payload: Mapping[str, Any]) -> tuple[object, ...]:
    """What a step and the node of its start have in common."""
    return text(payload, "start"), text(payload, "role"), number(payload, "startedAtMs")


def _refs(detail: Mapping[str, Any]) -> list[str]:
    return texts(detail.get("turns"))
