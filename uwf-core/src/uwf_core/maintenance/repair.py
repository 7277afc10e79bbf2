"""`cas verify`: mark damaged threads, and repair what stored data prove; nothing is ever invented.

Nodes come from a bundle; heads are rebuilt from the chain, the attempts and the events of their
thread; a damaged name is written again if the node that it refers to contains that name.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.store import Variable
from uwf_core.cas.bundle import Bundle
from uwf_core.cas.variables import is_intact
from uwf_core.engine.find import find_thread
from uwf_core.errors import (
    BusyError,
    MissingNodeError,
    StoreError,
    UnknownIdError,
    UsageError,
    UwfError,
)
from uwf_core.ids import Ref, ThreadId
from uwf_core.maintenance.bundle_check import CheckedBundle
from uwf_core.maintenance.verify import Report, Scope, broken_head, marking_of, verify
from uwf_core.maintenance.verify_calls import StoreProblem, lost_name
from uwf_core.thread.calls import STARTED
from uwf_core.thread.head import mark_head, origin_tags, to_tags
from uwf_core.thread.history import state_of_thread
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.names import (
    ASKS,
    CALLS,
    HEADS,
    attempt_name,
    call_name,
    event_kind,
    event_name,
    head_name,
    thread_of,
)
from uwf_core.thread.tags import task_tag

if TYPE_CHECKING:
    from uwf_core.engine.documents import VerifyDocument
    from uwf_core.engine.engine import Engine

_LATE = 1 << 62
"""Later than any time: a damaged node is deleted whatever time it contains."""


class VerifyOptions(NamedTuple):
    """A thread or node to verify (None: everything), whether to repair, and from which bundle."""

    word: str | None = None
    repair: bool = False
    bundle: str | None = None


def verify_store(engine: "Engine", options: VerifyOptions) -> "VerifyDocument":
    """Verify the store, mark damaged threads, and repair what can be repaired.

    Raises:
        UnknownIdError: unknown thread or node. BundleError: the bundle is rejected.
    """
    if options.bundle is not None and not options.repair:
        raise UsageError("--from needs --repair", hint="add --repair, or omit --from")
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
    """The thread or node that `word` names: an id, a reference, a prefix of one, or `@last`.

    Raises:
        UnknownIdError: it is neither. AmbiguousIdError: it matches several.
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
        hint="`uwf cas verify` alone verifies everything",
    )


_SHORTEST = 4


def _mark(engine: "Engine", thread: ThreadId, report: Report) -> bool:
    """Mark a damaged thread as corrupt; return whether lists show it so."""
    try:
        with thread_lock(engine.store, thread, engine.now_ms()):
            head = broken_head(engine, thread)
            if head is None:  # lists show a damaged row as corrupt
                return bool(engine.store.rows(head_name(thread), limit=1))
            problems = [each for each in report.of_thread(thread) if each.kind != "mark"]
            damage = marking_of(problems) if problems else head.damage
            if head.damage != damage:
                mark_head(engine.store, head, damage)
            return True
    except MissingNodeError:
        return True  # every list detects a missing head
    except (BusyError, StoreError):
        return False  # it is running, or nothing can be written; the report lists it anyway


def _repair(engine: "Engine", report: Report, path: str | None) -> list[str]:
    """Restore nodes from a bundle, and names that their node contains."""
    repaired: list[str] = []
    with ExitStack() as stack:
        if path is not None:
            bundle = stack.enter_context(Bundle(str(Path(engine.cwd, path))))
            repaired += _nodes_from(engine, report, CheckedBundle(bundle))
    for problem in report.problems:
        if problem.variable is None:
            continue
        if problem.kind == "damaged" and _rename(engine, problem):
            repaired.append(problem.variable)
        elif problem.kind == "call" and problem.variable.startswith(CALLS):
            repaired += _calls_again(engine, problem)
    return repaired


def _calls_again(engine: "Engine", problem: StoreProblem) -> list[str]:
    """Write the name of an open call again that is gone, if both of its threads prove it."""
    store, thread = engine.store, ThreadId((problem.variable or "").rpartition("/")[2])
    parent = thread_of(problem.variable or "")
    try:
        child, caller = broken_head(engine, thread), parent and broken_head(engine, parent)
        lost = lost_name(store, child, caller) if child and caller else None
        if lost is not None:
            store.set_variable(*lost, {}, None)
    except UwfError:
        return []  # it stays in the report
    return [] if lost is None else [lost[0]]


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
    """Write a damaged row again if its node proves it; return whether it was written."""
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
            if not name.startswith(ASKS):  # a cached session can be created again
                store.set_variable(name, rows[0].value, tags, None)
    except UwfError:
        return False  # it stays in the report
    return True


def _proven_tags(engine: "Engine", row: Variable) -> dict[str, str] | None:
    """The tags of a name, computed from its node; None if nothing proves them."""
    if row.name.startswith(ASKS):
        return {}
    thread = thread_of(row.name)
    if thread is None or not Ref.matches(row.value):
        return None
    if row.name.startswith(HEADS):
        return _head_tags(engine, thread, row)
    payload: Any = engine.store.get(row.value).payload
    if row.name.startswith(CALLS):
        return {} if _is_name_of(payload, row.name) else None
    if isinstance(payload, dict) and payload.get("thread") == thread and "marker" in payload:
        own = attempt_name(thread, f"{payload['number']}.{payload['attempt']['number']}")
        return {} if own == row.name else None
    if isinstance(payload, dict) and payload.get("thread") == thread and "atMs" in payload:
        own = event_name(thread, payload["seq"], event_kind(row.name))
        return {} if own == row.name else None
    return None


def _is_name_of(called: Any, name: str) -> bool:
    """Whether an event names the call of a role with this name."""
    if not isinstance(called, dict) or not {"parent", "thread", "purpose"} <= called.keys():
        return False
    own = call_name(called["parent"], called["number"], called["thread"])
    return bool(own == name and called["purpose"] != STARTED)


def _head_tags(engine: "Engine", thread: ThreadId, head: Variable) -> dict[str, str]:
    state = state_of_thread(engine.store, thread, Ref(head.value))
    return {**to_tags(state), **origin_tags(head), **task_tag(engine.store, state.start)}


def _repair_heads(engine: "Engine", report: Report) -> list[str]:
    """Correct the tags of heads and remove marks, if nothing else is wrong."""
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
            tags = _head_tags(engine, thread, variable)
            store.set_variable(variable.name, variable.value, tags, variable)
    except (BusyError, StoreError):
        return False  # it stays in the report
    return True
