"""A session -> phases, by the turns of the user and by the use of tools. Pure.

What the agent does before it changes anything is exploring; a change begins with the first tool
that writes; programs that run after a change check it. A message of the user ends a phase, and is a
phase of a person.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from uwf_improve.distill.formats import RecordedSession, SessionTurn, ToolUse

Kind = Literal["explore", "change", "check", "answer", "person"]

_READS = "read grep glob ls list search find fetch view open cat lookup query browse get"
_CHANGES = "edit write patch create replace multiedit insert delete move rename update"
_RUNS = "bash shell terminal run exec execute command process test"
_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(_READS.split(), "explore"),
    **dict.fromkeys(_RUNS.split(), "check"),
    **dict.fromkeys(_CHANGES.split(), "change"),
}
_NOT_WORK: Final = frozenset(("todowrite", "todoread", "todo", "updateplan", "exitplanmode"))


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One visit of a role: what was said and done in it."""

    kind: Kind
    turns: Sequence[SessionTurn]

    @property
    def tools(self) -> list[ToolUse]:
        """All uses of tools."""
        return [use for turn in self.turns for use in turn.tools]

    @property
    def texts(self) -> list[str]:
        """What was said, without blank texts."""
        return [turn.text.strip() for turn in self.turns if turn.text.strip()]


@dataclass(frozen=True, kw_only=True)
class Course:
    """The task of a session, and its phases. A phase of a person is never the first or last."""

    task: str
    phases: Sequence[Phase]


def course_of(session: RecordedSession) -> Course:
    """The phases of a session that has a turn of the user and one of the agent."""
    spoken = [each for each in session.turns if each.text.strip() or each.tools]
    turns = [_storable_turn(each) for each in spoken]
    first = next(index for index, each in enumerate(turns) if each.speaker == "user")
    # Several messages before the first answer are one task.
    start = next((i for i in range(first, len(turns)) if turns[i].speaker == "agent"), len(turns))
    task = "\n\n".join(each.text.strip() for each in turns[first:start])
    agent_first = [each for each in turns[:first] if each.speaker == "agent"]
    phases = [*_phases([*agent_first, *turns[start:]])]
    while phases and phases[-1].kind == "person":  # nobody answered it
        phases.pop()
    return Course(task=task, phases=phases)


def _storable_turn(turn: SessionTurn) -> SessionTurn:
    tools = [
        replace(
            use,
            name=_storable(use.name),
            arguments=_storable(use.arguments),
            result=None if use.result is None else _storable(use.result),
        )
        for use in turn.tools
    ]
    return replace(turn, text=_storable(turn.text), tools=tools)


def _storable(text: str) -> str:
    """A text without lone surrogates: JSON can escape them, and neither YAML nor UTF-8 has them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _phases(turns: Sequence[SessionTurn]) -> Iterator[Phase]:
    at = 0
    while at < len(turns):
        end = at
        while end < len(turns) and turns[end].speaker == turns[at].speaker:
            end += 1
        stretch = turns[at:end]
        if stretch[0].speaker == "user":
            yield Phase(kind="person", turns=stretch)
        else:
            yield from _agent_phases(stretch)
        at = end


def _agent_phases(stretch: Sequence[SessionTurn]) -> Iterator[Phase]:
    """The phases between two messages of the user."""
    kind: Kind | None = None
    own: list[SessionTurn] = []
    for turn in stretch:
        found = _kind_of(turn, kind)
        if kind is not None and found is not None and found != kind:
            yield Phase(kind=kind, turns=own)
            own = []
        kind = found or kind
        own.append(turn)
    yield Phase(kind=kind or "answer", turns=own)


def _kind_of(turn: SessionTurn, now: Kind | None) -> Kind | None:
    """The kind that a turn begins; None: it belongs to the present one."""
    kinds = [kind for use in turn.tools if (kind := kind_of_tool(use.name)) is not None]
    if "change" in kinds:
        return "change"
    changed = now in ("change", "check")
    if "check" in kinds:
        return "check" if changed else "explore"
    if "explore" in kinds:
        return now if changed else "explore"
    return None


def kind_of_tool(name: str) -> Kind | None:
    """What a tool is for, by the words of its name; None: it does no work on files, or is
    unknown.
    """
    if re.sub(r"\W|_", "", name).lower() in _NOT_WORK:
        return None
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name.rsplit("__", 1)[-1])
    kinds = [_KINDS.get(word.lower()) for word in words]
    found: list[Kind] = [kind for kind in kinds if kind is not None]
    if "change" in found:
        return "change"
    return found[0] if found else None
