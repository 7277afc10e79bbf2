"""Replay a thread with all the threads that it called.

A call is an attempt of the calling thread: its prompt is the task of the called thread, and its
reply is what the steps of that thread delivered.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from uwf_core.errors import UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.replay.calls import (
    difference_below,
    kind_difference,
    link_differences,
    result_differences,
)
from uwf_core.replay.chain import Chain, Entry, Recorded, read_chain, read_chain_to
from uwf_core.replay.prompts import Prompted
from uwf_core.replay.walk import ASSUMED, Difference, Replayed, Verdict, Walk
from uwf_core.thread.head import read_head
from uwf_core.workflow.definition import SELF

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.workflow.definition import Definition

VERDICTS: tuple[Verdict, ...] = ("same", "stale", "different", "unreachable")
"""From the best to the worst."""

DefinitionOf = Callable[[Recorded], "Definition"]
"""The workflow for a recorded attempt."""


def replay_tree(
    engine: "Engine",
    chain: Chain,
    definition_of: DefinitionOf,
    definition_at: "Callable[[Ref], Definition]",
) -> Iterator[Replayed]:
    """The verdict on each recorded attempt; those of a called thread follow the call. Reads nodes
    only; nothing runs.

    Args:
        engine: whose store has the chain.
        chain: the thread.
        definition_of: the workflow for an attempt of the thread.
        definition_at: a workflow that one of these calls.
    """
    tree = _Tree(engine, definition_at, chain)
    return tree.attempts(tree.root, definition_of, None)


class _Thread:
    """A thread: the attempts that are left, and how good a verdict on them can be.

    Attributes:
        chain: the thread. path: the roles that call it.
        place: of the next attempt. reached: the best verdict on it.
        walk: its position; None before the first attempt.
        changed: the call that gave it another instruction.
    """

    def __init__(self, chain: Chain, path: tuple[str, ...]) -> None:
        self.chain = chain
        self.path = path
        self.place = 0
        self.reached: Verdict = "same"
        self.walk: Walk | None = None
        self.changed: Replayed | None = None

    def until(self, ref: str | None) -> Iterator[Recorded]:
        """The attempts that are left, up to that at this node."""
        attempts = self.chain.attempts
        refs = [each.ref for each in attempts]
        end = refs.index(ref) + 1 if ref in refs else len(refs)
        while self.place < end:
            self.place += 1
            yield attempts[self.place - 1]


class _Tree:
    """The threads of a replay, and all their calls by the step after which they came."""

    def __init__(
        self, engine: "Engine", definition_at: "Callable[[Ref], Definition]", chain: Chain
    ) -> None:
        self._engine = engine
        self._definition_at = definition_at
        self._called: dict[str, _Thread] = {}
        self._entries = dict(chain.entries)
        self._shown: set[str] = set()
        self.root = _Thread(chain, ())

    def attempts(
        self, thread: _Thread, definition_of: DefinitionOf, until: str | None
    ) -> Iterator[Replayed]:
        """The verdicts on the attempts of a thread that are left, up to that at a node."""
        for attempt in thread.until(until):
            found = self._attempt(thread, attempt, definition_of)
            if attempt.ref not in self._shown:  # a copy of a called thread shares its steps
                self._shown.add(attempt.ref)
                yield from found

    def _attempt(
        self, thread: _Thread, attempt: Recorded, definition_of: DefinitionOf
    ) -> Sequence[Replayed]:
        """The verdict on an attempt, and those on the attempts of the thread that it called."""
        if thread.reached == "unreachable":
            found = Replayed(thread.chain.thread, thread.path, attempt, "unreachable")
            return found, *self._unreachable(thread, attempt)
        definition = definition_of(attempt)
        if thread.walk is None:
            thread.walk = Walk(self._engine, thread.chain, definition, self._entries)
        request = thread.walk.request(attempt, definition)
        begun = Replayed(
            *(thread.chain.thread, thread.path, attempt, _verdict(request.differences)),
            *(request.differences, request.edge, definition, thread.changed),
        )
        if request.found is None:
            below = self._unreachable(thread, attempt)
            ended = request.differences
        else:
            begun, below = self._below(thread, begun, request.found.task.instruction)
            ended = self._ended(thread.walk, begun, request.found, below)
        verdict = worst([thread.reached, _verdict(ended), *(_as_call(each) for each in below)])
        thread.reached = worst([thread.reached, _after(ended), *self._reached(attempt)])
        shown = (*ended, *difference_below(below))
        return begun._replace(verdict=verdict, differences=shown), *below

    def _ended(
        self, walk: Walk, begun: Replayed, found: Prompted, below: Sequence[Replayed]
    ) -> tuple[Difference, ...]:
        """How an attempt differs; the walk moves behind it."""
        attempt, differences = begun.attempt, begun.differences
        assert begun.workflow is not None
        changed = kind_difference(attempt, begun.workflow)
        if changed is not None:
            return *differences, changed
        if attempt.is_call and attempt.kind in ("step", "replaced"):
            differences += tuple(result_differences(self._engine.store, attempt))
        if attempt.kind == "calling":
            return differences
        is_same = not differences and worst(each.verdict for each in below) == "same"
        return differences + walk.end(attempt, found, is_same=is_same)

    def _below(
        self, caller: _Thread, begun: Replayed, instruction: str
    ) -> tuple[Replayed, Sequence[Replayed]]:
        """The verdicts on the attempts that a called thread made in one call."""
        attempt, definition = begun.attempt, begun.workflow
        assert definition is not None
        workflow = definition.roles[attempt.payload["role"]].workflow
        if not attempt.is_call or workflow is None:
            return begun, self._unreachable(caller, attempt)
        child = self._thread_of(caller, attempt)
        if child is None:
            return begun, ()
        called = definition if workflow == SELF else self._definition_at(Ref(workflow))
        child.reached = worst((child.reached, caller.reached, _after(begun.differences)))
        if begun.differences or begun.call is not None:
            child.changed = begun
        links = tuple(self._enter(child, attempt, instruction))
        below = tuple(self.attempts(child, lambda _: called, _end(attempt)))
        return begun._replace(differences=(*begun.differences, *links)), below

    def _enter(self, child: _Thread, attempt: Recorded, instruction: str) -> Iterator[Difference]:
        """Give the next new attempt of a called thread the instruction of its call: how its record
        of the call differs.
        """
        left = child.chain.attempts[child.place :]
        first = next((each for each in left if each.ref not in self._shown), None)
        if first is not None:
            payload, prev = attempt.payload, first.payload["prev"] or child.chain.start
            place = payload["thread"], payload["number"], payload["role"]
            self._entries[prev] = Entry(*place, instruction, payload["cwd"])
            if child.chain.entries:  # else it is deleted
                yield from link_differences(self._engine.store, attempt, child.chain, prev)

    def _unreachable(self, caller: _Thread, attempt: Recorded) -> Sequence[Replayed]:
        """The attempts that a called thread made in a call that is not made now."""
        child = self._thread_of(caller, attempt) if attempt.is_call else None
        if child is None:
            return ()
        child.reached = "unreachable"
        return tuple(self.attempts(child, _no_definition, _end(attempt)))

    def _reached(self, attempt: Recorded) -> Iterator[Verdict]:
        """How good a verdict on a step after a call can be."""
        child = self._called.get(attempt.payload["session"]) if attempt.is_call else None
        if child is not None and attempt.kind != "failed":
            yield child.reached

    def _thread_of(self, caller: _Thread, attempt: Recorded) -> _Thread | None:
        """The thread that a call called; None if it took no step and is deleted."""
        name, path = attempt.payload["session"], (*caller.path, attempt.payload["role"])
        if name not in self._called:
            chain = self._chain_of(caller, ThreadId(name))
            if chain is None:
                return None
            self._called[name] = _Thread(chain, path)
        return self._called[name]

    def _chain_of(self, caller: _Thread, thread: ThreadId) -> Chain | None:
        store = self._engine.store
        try:
            return read_chain(store, read_head(store, thread))
        except UnknownIdError:  # deleted; what it delivered is a part of the calling thread
            calls = (each.payload for each in caller.chain.attempts if each.is_call)
            ends = [each.get("child") for each in calls if each["session"] == thread]
            return read_chain_to(store, thread, Ref(ends[-1])) if ends and ends[-1] else None


def _end(attempt: Recorded) -> str | None:
    """The last attempt of a called thread in a call; None for one that did not complete."""
    return attempt.payload["child"] if attempt.kind in ("step", "replaced") else None


def _no_definition(attempt: Recorded) -> "Definition":
    raise AssertionError(f"{attempt.ref} is unreachable, so no workflow is asked for")


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; `same` if there are none."""
    return max(verdicts, key=VERDICTS.index, default="same")


def _verdict(differences: Sequence[Difference]) -> Verdict:
    parts = {each.part for each in differences}
    if not parts:
        return "same"
    return "stale" if parts.issubset(ASSUMED) else "different"


def _as_call(below: Replayed) -> Verdict:
    """The verdict on a call that follows from one on a step of the called thread."""
    return "different" if below.verdict == "unreachable" else below.verdict


def _after(differences: Sequence[Difference]) -> Verdict:
    """How good a verdict on what follows can be: in another folder it is an assumption."""
    parts = {each.part for each in differences}
    if not parts:
        return "same"
    return "stale" if parts.issubset((*ASSUMED, "location")) else "unreachable"
