"""`cas verify --repair`, and the marks that damaged threads get. Nothing is ever invented.

What a bundle still has is taken from there; what the chain, the attempts and the events of a
thread say is put back into its head; a name whose row is damaged is written again where the node
that it points to says itself that it belongs there.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.store import Variable
from uwf_core.cas.bundle import Bundle
from uwf_core.cas.variables import is_intact
from uwf_core.engine.find import find_thread
from uwf_core.errors import BusyError, MissingNodeError, StoreError, UnknownIdError, UwfError
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.head import mark_head, to_tags
from uwf_core.thread.history import state_of_thread
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.names import (
    ASKS,
    HEADS,
    attempt_name,
    event_kind,
    event_name,
    head_name,
    thread_of,
)
from uwf_core.upkeep.bundle_check import CheckedBundle
from uwf_core.upkeep.verify import Report, Scope, StoreProblem, broken_head, marking_of, verify

if TYPE_CHECKING:
    from uwf_core.engine.documents import VerifyDocument
    from uwf_core.engine.engine import Engine

_LATE = 1 << 62
"""Later than any time: a damaged node goes however late it says that it was put."""


class VerifyOptions(NamedTuple):
    """What to look at (a thread or a node; None: everything), whether to repair, from which
    bundle.
    """

    word: str | None = None
    repair: bool = False
    bundle: str | None = None


def verify_store(engine: "Engine", options: VerifyOptions) -> "VerifyDocument":
    """Look at the store, mark the threads that are damaged, and repair what can be.

    Raises:
        UnknownIdError: there is no such thread or node. BundleError: the bundle is refused.
    """
    scope = _scope(engine, options.word)
    report, repaired = verify(engine, scope), list[str]()
    if options.repair and report.problems:
        repaired = _repair(engine, report, options.bundle)
        report = verify(engine, scope)
        repaired += _repair_heads(engine, report)
        report = verify(engine, scope)
    marked = [thread for thread in report.damaged if _mark(engine, ThreadId(thread), report)]
    return {
        "valid": not report.problems,
        "nodes": report.nodes,
        "variables": report.variables,
        "threads": report.threads,
        "problems": [
            {**problem._asdict(), "threads": list(problem.threads)}  # type: ignore[typeddict-item]
            for problem in report.problems
        ],
        "damaged": report.damaged,
        "marked": marked,
        "repaired": repaired,
    }


def _scope(engine: "Engine", word: str | None) -> Scope:
    """A thread's id, a prefix of one or `@last`, else a node's reference or a prefix of that.

    Raises:
        UnknownIdError: it is neither. AmbiguousIdError: it fits several.
    """
    if word is None:
        return Scope()
    text, store = word.upper(), engine.store
    if ThreadId.matches(text) and store.rows(head_name(ThreadId(text)), limit=1):
        return Scope(thread=ThreadId(text))  # also one whose head is damaged
    if Ref.matches(text):
        if store.has(text):
            return Scope(node=Ref(text))
    else:
        try:
            return Scope(thread=find_thread(engine, word))
        except UnknownIdError:
            found = store.find(text, 2) if len(text) >= _SHORTEST else []
            if len(found) == 1:
                return Scope(node=found[0])
    raise UnknownIdError(
        f"{word!r} is neither a thread nor a node in {store.location()}",
        hint="without it, `uwf cas verify` looks at everything",
    )


_SHORTEST = 4


def _mark(engine: "Engine", thread: ThreadId, report: Report) -> bool:
    """Have a damaged thread listed as corrupt; whether it is."""
    try:
        with thread_lock(engine.store, thread, engine.now_ms()):
            head = broken_head(engine, thread)
            if head is None:  # a damaged row is a mark of its own
                return bool(engine.store.rows(head_name(thread), limit=1))
            problems = [each for each in report.of_thread(thread) if each.kind != "mark"]
            damage = marking_of(problems) if problems else head.damage
            if head.damage != damage:
                mark_head(engine.store, head, damage)
            return True
    except MissingNodeError:
        return True  # its head is missing, which every list finds
    except (BusyError, StoreError):
        return False  # it runs, or nothing can be written: the report says it all the same


def _repair(engine: "Engine", report: Report, path: str | None) -> list[str]:
    """Bring nodes back from a bundle, and names whose node says where it belongs."""
    repaired: list[str] = []
    with ExitStack() as stack:
        if path is not None:
            bundle = stack.enter_context(Bundle(str(Path(engine.cwd, path))))
            repaired += _nodes_from(engine, report, CheckedBundle(bundle))
    for problem in report.problems:
        if problem.kind == "damaged" and problem.variable is not None and _rename(engine, problem):
            repaired.append(problem.variable)
    return repaired


def _nodes_from(engine: "Engine", report: Report, checked: CheckedBundle) -> list[str]:
    store, repaired = engine.store, list[str]()
    wanted = {problem.node for problem in report.problems if problem.node is not None}
    with store.transaction():
        for ref in sorted(wanted):
            record = checked.bundle.get(ref)
            if record is None:
                continue
            edges = checked.graph.edge_numbers(checked.graph.position(ref))
            store.delete([ref], _LATE)
            store.import_record(record._replace(edges=edges))
            repaired.append(ref)
    return repaired


def _rename(engine: "Engine", problem: StoreProblem) -> bool:
    """Write a damaged row again, if what it points to belongs to it; whether that was done."""
    store, name = engine.store, problem.variable or ""
    rows = [row for row in store.rows(name, limit=1) if row.name == name and not is_intact(row)]
    if not rows:
        return False
    try:
        tags = _proven_tags(engine, rows[0])
        if tags is None:
            return False
        with store.transaction():
            store.delete_variable(rows[0])
            if not name.startswith(ASKS):  # what is only remembered can be asked again
                store.set_variable(name, rows[0].value, tags, None)
    except UwfError:
        return False  # it stays as it is, and is told
    return True


def _proven_tags(engine: "Engine", row: Variable) -> dict[str, str] | None:
    """The tags that a name has by what its node says of itself; None: nothing proves it."""
    if row.name.startswith(ASKS):
        return {}
    thread = thread_of(row.name)
    if thread is None or not Ref.matches(row.value):
        return None
    if row.name.startswith(HEADS):
        return to_tags(state_of_thread(engine.store, thread, Ref(row.value)))
    payload: Any = engine.store.get(row.value).payload
    if isinstance(payload, dict) and payload.get("thread") == thread and "marker" in payload:
        own = attempt_name(thread, f"{payload['number']}.{payload['attempt']}")
        return {} if own == row.name else None
    if isinstance(payload, dict) and payload.get("thread") == thread and "atMs" in payload:
        own = event_name(thread, payload["seq"], event_kind(row.name))
        return {} if own == row.name else None
    return None


def _repair_heads(engine: "Engine", report: Report) -> list[str]:
    """Put the tags of heads right, and take marks away, where nothing else is wrong."""
    return [
        head_name(ThreadId(thread))
        for thread in report.damaged
        if {problem.kind for problem in report.of_thread(thread)} <= {"tags", "mark"}
        and _repair_head(engine, ThreadId(thread))
    ]


def _repair_head(engine: "Engine", thread: ThreadId) -> bool:
    store = engine.store
    try:
        with thread_lock(store, thread, engine.now_ms()):
            variable = store.variable(head_name(thread))
            if variable is None:
                return False
            tags = to_tags(state_of_thread(store, thread, Ref(variable.value)))
            store.set_variable(variable.name, variable.value, tags, variable)
    except (BusyError, StoreError):
        return False  # it is told as it is
    return True
