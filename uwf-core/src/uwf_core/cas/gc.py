"""Garbage collection: delete nodes that are unreachable from variables, unless they are young.

Marking takes no lock and reads no payload. Sweeping is one transaction, under the lock of all
writers: all of them are deleted or none, whenever the process dies; and a process that
finds a node finds all nodes reachable from it. A writer that reused an old node has touched it,
so it stays, and so do the nodes of a variable that was created or moved during marking.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.api.store import Variable
from uwf_core.cas.graph import NOWHERE, Graph
from uwf_core.cas.hashing import META
from uwf_core.cas.rows import every_variable
from uwf_core.cas.walk import walk
from uwf_core.errors import BusyError, CorruptNodeError
from uwf_core.ids import ref_of_number
from uwf_core.process import crash_points

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

SCHEMA_GRACE_MS = 60 * 60 * 1000
"""For how long a type is kept at least: a process may know it for ten minutes without looking."""

_TRIES = 10
_CHUNK = 10_000


class Rules(NamedTuple):
    """The meaning of variables for the collection.

    Attributes:
        reasons: why variables are kept, in the order in which they claim nodes.
        reason_of: one of these, for the name of a variable.
        anchor_of: the only node for which a variable exists; None: it exists for itself.
            Once nothing else reaches that node, the variable goes as well.
    """

    reasons: Sequence[str]
    reason_of: Callable[[str], str]
    anchor_of: Callable[[str], str | None]


class Kept(NamedTuple):
    """How many nodes were kept for a reason, and by how many variables."""

    reason: str
    variables: int
    nodes: int


class Collected(NamedTuple):
    """What a collection found: nodes in all, kept and freed, and variables that went."""

    nodes: int
    kept: tuple[Kept, ...]
    freed: int
    dropped: tuple[str, ...]


YOUNG = "young"
"""The reason of unreachable nodes that are not old enough to delete."""


def collect(
    store: "Store", rules: Rules, since_ms: int, now_ms: int, *, dry_run: bool
) -> Collected:
    """Delete unreachable nodes that were not put since `since_ms`.

    Args:
        store: the store.
        rules: what its variables mean.
        since_ms: nodes put then or later stay, with all nodes reachable from them.
        now_ms: the time.
        dry_run: change nothing, only report what would be deleted.

    Raises:
        CorruptNodeError: a reachable node is missing, or a variable or the edges of a node
            are damaged; nothing was freed.
        BusyError: other processes kept using the nodes to delete.
    """
    graph = Graph()
    graph.extend(store.graph())
    marking = _Marking(store, graph, rules, since_ms, now_ms)
    marking.mark()
    if dry_run or not (marking.loose or marking.dropped):
        return marking.result(marking.loose)
    for _ in range(_TRIES):
        try:
            with store.transaction():
                freed = _sweep(store, marking, since_ms)
                crash_points.reach("sweep")
        except _StillUsedError:
            continue
        return marking.result(freed)
    raise BusyError(
        "other processes keep using the nodes to delete", hint="repeat it when fewer threads run"
    )


class _StillUsedError(Exception):
    """A node that was to go was touched by now; marks have been set for what it leads to."""


class _Marking:
    """The reason that keeps each node: a mark per node of the graph, 0 for nodes to delete."""

    def __init__(
        self, store: "Store", graph: Graph, rules: Rules, since_ms: int, now_ms: int
    ) -> None:
        self._store = store
        self.graph = graph
        self._rules = rules
        self._since_ms = since_ms
        self._now_ms = now_ms
        self.marks = bytearray(len(graph))
        self._kept: dict[str, Kept] = {}
        self.dropped: list[Variable] = []

    @property
    def loose(self) -> int:
        """How many nodes have no mark."""
        return self.marks.count(0)

    def mark(self) -> None:
        """Mark from all variables, then from what is young, then from those with an anchor."""
        roots, anchored = self._roots()
        for stamp, reason in enumerate(self._rules.reasons, 1):
            found = roots.get(reason, array("I"))
            count, missing = self.graph.mark(found, self.marks, stamp)
            self._check(missing)
            if found:
                self._kept[reason] = Kept(reason, len(found), count)
        young, _ = self.graph.mark(self._young(), self.marks, len(self._rules.reasons) + 1)
        self._mark_anchored(anchored)
        if young:
            self._kept[YOUNG] = Kept(YOUNG, 0, young)

    def _roots(self) -> "tuple[dict[str, array[int]], list[Variable]]":
        roots: dict[str, array[int]] = {}
        anchored = []
        for variable in every_variable(self._store.rows):
            if self._rules.anchor_of(variable.name) is not None:
                anchored.append(variable)
                continue
            position = self.graph.position(variable.value)
            if position == NOWHERE:
                self._check(() if self._store.has(variable.value) else (variable.value,))
            else:
                roots.setdefault(self._rules.reason_of(variable.name), array("I")).append(position)
        return roots, anchored

    def _young(self) -> Iterator[int]:
        """Nodes put recently, and types that a process may still have cached."""
        graph, schemas_since = self.graph, self._now_ms - SCHEMA_GRACE_MS
        for position in graph.young(min(self._since_ms, schemas_since)):
            is_young = graph.touched_ms(position) >= self._since_ms
            if is_young or list(graph.edges(position)) == [META]:
                yield position

    def _mark_anchored(self, anchored: Iterable[Variable]) -> None:
        for variable in anchored:
            anchor = self.graph.position(self._rules.anchor_of(variable.name) or "")
            is_held = anchor != NOWHERE and self.marks[anchor]
            if not is_held and variable.updated_ms < self._since_ms:
                self.dropped.append(variable)
                continue
            position = self.graph.position(variable.value)
            if position != NOWHERE:
                reason = self._rules.reason_of(variable.name)
                stamp = 1 + self._rules.reasons.index(reason)
                count, missing = self.graph.mark([position], self.marks, stamp)
                self._check(missing)
                before = self._kept.get(reason, Kept(reason, 0, 0))
                self._kept[reason] = Kept(reason, before.variables + 1, before.nodes + count)

    def keep(self, refs: Iterable[str]) -> None:
        """Mark what can be reached from `refs` now, be it in the graph or newer than that.

        Raises:
            CorruptNodeError: something on the way is missing.
        """
        for _ in walk(refs, self._keep):
            pass

    def _keep(self, ref: str) -> tuple[None, Iterable[str]] | None:
        position = self.graph.position(ref)
        if position == NOWHERE:
            return None, map(ref_of_number, self._store.record(ref).edges)
        if not self.marks[position]:
            _, missing = self.graph.mark([position], self.marks, _LATE)
            self._check(missing)
        return None

    def revive(self, refs: Iterable[str]) -> int:
        """Mark nodes of the graph and what they lead to; how many that are."""
        positions = [self.graph.position(ref) for ref in refs]
        return self.graph.mark(positions, self.marks, _LATE)[0]

    def is_kept(self, ref: str) -> bool:
        """Whether a node of the graph has a mark."""
        position = self.graph.position(ref)
        return position != NOWHERE and bool(self.marks[position])

    def loose_refs(self) -> Iterator[str]:
        """The nodes without a mark."""
        position = self.marks.find(0)
        while position != NOWHERE:
            yield self.graph.ref(position)
            position = self.marks.find(0, position + 1)

    def result(self, freed: int) -> Collected:
        """What came of it."""
        names = tuple(variable.name for variable in self.dropped)
        late = self.marks.count(_LATE)
        kept = list(self._kept.values())
        if late:
            kept.append(Kept(IN_USE, 0, late))
        return Collected(len(self.graph), tuple(kept), freed, names)

    @staticmethod
    def _check(missing: Iterable[str]) -> None:
        for ref in missing:
            raise CorruptNodeError(
                f"the referenced node {ref} is missing; nothing was deleted",
                hint="next: uwf cas verify; repair or remove the threads that it lists",
            )


_LATE = 255
IN_USE = "in use meanwhile"
"""The reason of nodes that somebody came to use while they were to be freed."""


def _sweep(store: "Store", marking: _Marking, since_ms: int) -> int:
    """Free what has no mark. Within the transaction, so that nobody comes between."""
    marking.keep(
        variable.value
        for variable in every_variable(store.rows)
        if not marking.is_kept(variable.value) and variable not in marking.dropped
    )
    for variable in marking.dropped:
        if store.variable(variable.name) == variable:
            store.delete_variable(variable)
    wanted = marking.loose
    freed = store.delete(marking.loose_refs(), since_ms)
    if freed < wanted:
        _check_survivors(store, marking)
    return freed


def _check_survivors(store: "Store", marking: _Marking) -> None:
    """What was touched meanwhile is still there, and must not have lost what it leads to."""
    survivors: list[str] = []
    loose = marking.loose_refs()
    while chunk := list(islice(loose, _CHUNK)):
        survivors += store.present(chunk)
    if not survivors:
        return  # somebody else has collected as well
    if marking.revive(survivors) > len(survivors):
        raise _StillUsedError
