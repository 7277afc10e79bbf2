"""What the original recorded of a session: its turns, and what they used."""

from collections.abc import Mapping
from typing import Any

from uwf_core.api import ToolCall, Turn, Usage
from uwf_core.errors import MissingNodeError
from uwf_import_original.fields import NotImported, mapping, number, text, texts
from uwf_import_original.nodes import NodeCopy

_LONGEST = 1_000_000


class TurnChains:
    """The turns of steps in the chains of threads: each belongs to the start of a step."""

    def __init__(self, copy: NodeCopy) -> None:
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

    def of(self, step: Mapping[str, Any]) -> tuple[Turn, ...]:
        """The turns of a step, oldest first: those of its detail, else those of the chains."""
        try:
            detail = mapping(self._copy.node(text(step, "detail")).payload, "a detail")
            turns = [mapping(self._copy.node(each).payload, "a turn") for each in _refs(detail)]
        except MissingNodeError:
            turns, detail = [], {}
        if not turns and text(detail, "text"):
            turns = [{"role": "assistant", "content": text(detail, "text")}]
        chained = () if turns else self._turns.get(_key(step), ())
        turns = turns or [mapping(self._copy.node(each).payload, "a turn") for each in chained]
        return tuple(_turn(index, turn) for index, turn in enumerate(turns))


def session_of(copy: NodeCopy, step: Mapping[str, Any]) -> str | None:
    """The session of a step, as its detail names it."""
    try:
        return (
            text(mapping(copy.node(text(step, "detail")).payload, "a detail"), "sessionId") or None
        )
    except MissingNodeError:
        return None


def usage_of(step: Mapping[str, Any]) -> Usage:
    """The usage of a step. Its `duration` is in seconds or ms, by the version that wrote it, so the
    step's own times count.
    """
    given = step.get("usage")
    used = given if isinstance(given, dict) else {}
    return Usage(
        turns=number(used, "turns"),
        input_tokens=number(used, "inputTokens"),
        output_tokens=number(used, "outputTokens"),
    )


def _turn(index: int, turn: Mapping[str, Any]) -> Turn:
    given, role = turn.get("toolCalls"), text(turn, "role")
    calls = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return Turn(
        index=index,
        role="assistant" if role == "assistant" else "tool" if role == "tool" else "note",
        text=text(turn, "content"),
        reasoning=text(turn, "reasoning") or None,
        tool_calls=tuple(
            ToolCall(
                id=str(place), name=text(call, "name"), arguments=text(call, "args", "arguments")
            )
            for place, call in enumerate(calls)
        ),
    )


def _key(payload: Mapping[str, Any]) -> tuple[object, ...]:
    """What a step and the node of its start have in common."""
    return text(payload, "start"), text(payload, "role"), number(payload, "startedAtMs")


def _refs(detail: Mapping[str, Any]) -> list[str]:
    return texts(detail.get("turns"))
