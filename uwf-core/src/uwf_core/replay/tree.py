"""Replay a thread with all the threads that it called.

A call is an attempt of the calling thread: its prompt is the task of the called thread, and its
reply is what the steps of that thread delivered.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.errors import UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.replay.branches import (
    instruction_of,
    joint_differences,
    list_differences,
    task_differences,
    task_of,
)
from uwf_core.replay.calls import (
    difference_below,
    event_of,
    kind_difference,
    link_differences,
    result_differences,
)
from uwf_core.replay.chain import (
    Chain,
    Entry,
    Recorded,
    read_chain,
    read_chain_to,
)
from uwf_core.replay.prompts import Prompted
from uwf_core.replay.walk import ASSUMED, Difference, Replayed, Request, Verdict, Walk
from uwf_core.thread.head import read_head
from uwf_core.thread.history import is_start, read_start
from uwf_core.thread.links import CalledThread
from uwf_core.workflow.definition import SELF
from uwf_core.workflow.fan_out import CANCELLED

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
        chain: the thread.
        path: the roles that call it, a fan-out with its branch. callers: what these play.
        place: of the next attempt. reached: the best verdict on it.
        walk: its position; None before the first attempt.
        changed: the call that gave it another instruction.
    """

    def __init__(
        self, chain: Chain, path: tuple[str, ...] = (), callers: tuple[str, ...] = ()
    ) -> None:
        self.chain = chain
        self.path = path
        self.callers = callers
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
        self.root = _Thread(chain)

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
            found = Replayed(
                *(thread.chain.thread, thread.path, attempt, "unreachable"),
                callers=thread.callers,
            )
            return found, *self._unreachable(thread, attempt)
        definition = definition_of(attempt)
        if thread.walk is None:
            thread.walk = Walk(self._engine, thread.chain, definition, self._entries)
        request = thread.walk.request(attempt, definition)
        begun = Replayed(
            *(thread.chain.thread, thread.path, attempt, _verdict(request.differences)),
            *(request.differences, request.edge, definition, thread.changed),
            callers=thread.callers,
        )
        if request.found is None:
            below = self._unreachable(thread, attempt)
            ended = request.differences
        else:
            begun, below = self._below(thread, begun, request)
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
            differences += tuple(self._results(attempt, begun.workflow))
        if attempt.kind == "calling" or any(each.part == "output" for each in differences):
            return differences
        is_same = not differences and worst(each.verdict for each in below) == "same"
        return differences + walk.end(attempt, found, is_same=is_same)

    def _results(self, attempt: Recorded, definition: "Definition") -> Iterator[Difference]:
        """Whether a step has recorded what the called threads delivered."""
        if attempt.is_fan_out:
            role = definition.roles[attempt.payload["role"]]
            return joint_differences(self._engine.store, attempt, role)
        return result_differences(self._engine.store, attempt)

    def _below(
        self, caller: _Thread, begun: Replayed, request: Request
    ) -> tuple[Replayed, Sequence[Replayed]]:
        """The verdicts on the attempts that the called threads made in one call."""
        attempt, definition = begun.attempt, begun.workflow
        assert definition is not None and request.found is not None
        role = definition.roles[attempt.payload["role"]]
        if not attempt.is_call or not role.calls:
            return begun, self._unreachable(caller, attempt)
        if role.workflow is not None:
            [called] = attempt.called
            instruction = request.found.task.instruction
            own = self._call(caller, begun, called, role.workflow, instruction)
            return begun._replace(differences=(*begun.differences, *own.differences)), own.below
        differences, below = list(list_differences(attempt, request.branches)), list[Replayed]()
        for called in attempt.called:
            own = self._branch(caller, begun, called, request)
            differences += own.differences
            below += own.below
        return begun._replace(differences=(*begun.differences, *differences)), below

    def _branch(
        self, caller: _Thread, begun: Replayed, called: CalledThread, request: Request
    ) -> "_Below":
        """A branch that a fan-out has now, by its own task; others are not reached."""
        store, attempt = self._engine.store, begun.attempt
        task = task_of(called, request.branches)
        child = self._thread_of(caller, attempt, called)
        if task is None or child is None:
            return _Below((), self._unreached(caller, attempt, called))
        assert caller.walk is not None
        event = event_of(attempt, child.chain, self._prev_of(child))
        before = task_of(called, request.recorded_branches)
        cwd = caller.walk.folder
        own = tuple(task_differences(store, attempt, event, task, before, cwd))
        with_own = begun._replace(differences=(*begun.differences, *own))
        instruction, workflow = instruction_of(store, attempt, task), str(task.branch.workflow)
        found = self._call(caller, with_own, called, workflow, instruction)
        return found._replace(differences=(*own, *found.differences))

    def _call(
        self,
        caller: _Thread,
        begun: Replayed,
        called: CalledThread,
        workflow: str,
        instruction: str,
    ) -> "_Below":
        """The attempts that a thread made in one call. `begun`: with what differs up to it."""
        attempt, definition = begun.attempt, begun.workflow
        assert definition is not None
        child = self._thread_of(caller, attempt, called)
        if child is None:
            return _Below((), ())
        own = definition if workflow == SELF else self._definition_at(Ref(workflow))
        child.reached = worst((child.reached, caller.reached, _after(begun.differences)))
        if begun.differences or begun.call is not None:
            child.changed = begun
        links = tuple(self._enter(child, attempt, called, instruction))
        return _Below(links, tuple(self.attempts(child, lambda _: own, _end(called))))

    def _enter(
        self, child: _Thread, attempt: Recorded, called: CalledThread, instruction: str
    ) -> Iterator[Difference]:
        """Give the next new attempt of a called thread the instruction of its call: how its record
        of the call differs.
        """
        prev, payload = self._prev_of(child), attempt.payload
        if prev is not None:
            place = payload["thread"], payload["number"], payload["role"], called.role
            cwd = payload["attempt"]["cwd"]
            if attempt.is_fan_out:
                cwd = self._folder_of(attempt, child, prev)
            self._entries[prev] = Entry(*place, instruction, cwd)
        if child.chain.entries if prev is not None else child.chain.calls:  # else it is deleted
            yield from link_differences(self._engine.store, attempt, called, child.chain, prev)

    def _folder_of(self, attempt: Recorded, child: _Thread, prev: str) -> str:
        """The folder of a branch, which only its own thread records."""
        store, event = self._engine.store, event_of(attempt, child.chain, prev)
        if event is None:
            return str(read_start(store, Ref(child.chain.start))["cwd"])
        return str(store.payload(Ref(event))["cwd"])

    def _prev_of(self, child: _Thread) -> str | None:
        """The step before the next new attempt of a called thread; None if none is left."""
        left = child.chain.attempts[child.place :]
        first = next((each for each in left if each.ref not in self._shown), None)
        return None if first is None else str(first.payload["prev"] or child.chain.start)

    def _unreachable(self, caller: _Thread, attempt: Recorded) -> Sequence[Replayed]:
        """The attempts that called threads made in a call that is not made now."""
        return [
            each for called in attempt.called for each in self._unreached(caller, attempt, called)
        ]

    def _unreached(
        self, caller: _Thread, attempt: Recorded, called: CalledThread
    ) -> Sequence[Replayed]:
        child = self._thread_of(caller, attempt, called)
        if child is None:
            return ()
        child.reached = "unreachable"
        return tuple(self.attempts(child, _no_definition, _end(called)))

    def _reached(self, attempt: Recorded) -> Iterator[Verdict]:
        """How good a verdict on a step after a call can be."""
        for called in attempt.called if attempt.kind != "failed" else ():
            child = self._called.get(called.thread)
            if child is not None:
                yield child.reached

    def _thread_of(
        self, caller: _Thread, attempt: Recorded, called: CalledThread
    ) -> _Thread | None:
        """The thread that a call called; None if it took no step and is deleted."""
        name = called.thread
        if name not in self._called:
            chain = self._chain_of(caller, ThreadId(name))
            if chain is None:
                return None
            branch = (called.key,) if attempt.is_fan_out else ()
            path = (*caller.path, attempt.payload["role"], *branch)
            self._called[name] = _Thread(chain, path, (*caller.callers, called.role))
        return self._called[name]

    def _chain_of(self, caller: _Thread, thread: ThreadId) -> Chain | None:
        store = self._engine.store
        try:
            return read_chain(store, read_head(store, thread))
        except UnknownIdError:  # deleted; what it delivered is a part of the calling thread
            calls = [call for each in caller.chain.attempts for call in each.called]
            ends = [each.end for each in calls if each.thread == thread]
            if not ends or ends[-1] is None or is_start(store.payload(Ref(ends[-1]))):
                return None
            return read_chain_to(store, thread, Ref(ends[-1]))


class _Below(NamedTuple):
    """How a call differs by the record of a called thread, and the attempts of that."""

    differences: tuple[Difference, ...]
    below: Sequence[Replayed]


def _end(called: CalledThread) -> str | None:
    """The last attempt of a called thread in a call; None for one that did not complete."""
    return None if called.status == CANCELLED else called.end


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
