"""Import a bundle into the store: a thread with all threads below it, or nothing."""

import json
import os
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.cas.bundle import Bundle
from uwf_core.cas.bundle_check import check_nodes
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.cas.records import check_same
from uwf_core.engine.agents import mark_imported
from uwf_core.engine.fork import fork_at
from uwf_core.errors import BundleError, BusyError, WrongStateError
from uwf_core.ids import ThreadId
from uwf_core.maintenance.bundle_check import CheckedBundle
from uwf_core.maintenance.export_bundle import document_of
from uwf_core.process import crash_points
from uwf_core.thread.due import move_due
from uwf_core.thread.head import IMPORTED, head_of
from uwf_core.thread.names import CALLS, FINISHED, attempts_prefix, head_name, thread_of
from uwf_core.thread.nodes import schema_of

if TYPE_CHECKING:
    from uwf_core.cas.graph import Graph
    from uwf_core.cas.store import Store
    from uwf_core.engine.bundle_documents import BundleDocument, ImportDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.files.transfer import ImportedFiles


class ImportOptions(NamedTuple):
    """Whether to change nothing; whether a thread that exists may be imported under a new id."""

    dry_run: bool = False
    as_new: bool = False


def verify_bundle(file: str | os.PathLike[str]) -> "BundleDocument":
    """Check a bundle completely; needs no store.

    Raises:
        BundleError: a check fails.
    """
    with Bundle(os.fspath(file)) as bundle:
        CheckedBundle(bundle)
        return document_of(bundle.manifest, bundle.size, os.fspath(file))


def import_bundle(
    engine: "Engine", file: str | os.PathLike[str], options: ImportOptions
) -> "ImportDocument":
    """Import a thread with those below it; any error rejects the whole bundle.

    A thread that exists with the same head stays unchanged, but gets recorded files that it lacks;
    with another head it is rejected.
    With `as_new`, one that exists is imported under a new id, as a fork of the head in the bundle:
    without its open calls, and with the ended threads below it whose ids are free. Of a bundle
    without a manifest (ocas), the nodes alone are imported.

    Raises:
        BundleError: a check of the bundle fails.
        CollisionError: the store has another payload under one of its references.
        WrongStateError: the thread or the name of a workflow exists with another value.
    """
    with Bundle(os.path.join(engine.cwd, file)) as bundle:  # noqa: PTH118
        if bundle.is_plain:
            return _import_plain(engine, bundle, dry_run=options.dry_run)
        checked = CheckedBundle(bundle)
        plan = _plan(engine, checked, options)
        added = _missing(engine.store, bundle) if plan.is_new else 0
        with _files(engine, checked, plan, options) as files:
            if plan.is_new and not options.dry_run:
                with engine.store.transaction():
                    if _plan(engine, checked, options)._replace(thread=plan.thread) != plan:
                        raise BusyError(
                            f"thread {checked.thread} was created meanwhile", hint="try again"
                        )
                    _store(engine, checked, plan)
                    files.keep()
            else:
                files.keep()
        return {
            "thread": plan.thread,
            "head": checked.head.ref,
            "root": bundle.manifest.root,
            "threads": len(plan.below),
            "nodes": len(bundle),
            "added": added,
            "files": len(bundle.objects),
            "filesAdded": files.added,
            "imported": plan.is_new and not options.dry_run,
            "dryRun": options.dry_run,
        }


class _Plan(NamedTuple):
    """The thread to create: its id, whether anything is new here, whether it is a fork; and those
    to create below it.
    """

    thread: ThreadId
    is_new: bool
    is_fork: bool
    below: tuple[ThreadId, ...] = ()


def _plan(engine: "Engine", checked: CheckedBundle, options: ImportOptions) -> _Plan:
    store, thread = engine.store, checked.thread
    for variable in checked.registered:
        there = store.variable(variable.name)
        if there is not None and there.value != variable.value and not options.as_new:
            raise WrongStateError(
                f"the name {variable.name} refers to another workflow here ({there.value})",
                hint="--as-new imports the thread without the name",
            )
    free, other = list[ThreadId](), None
    for head in (checked.head, *checked.below):
        known = store.variable(head_name(head.thread))
        if known is None:
            free.append(head.thread)
        elif other is None and known.value != head.ref:
            other = (head, known)
    exists = bool(free) and thread not in free
    if options.as_new and (other is not None or thread not in free):
        below = tuple(_ended_below(checked, free))
        return _Plan(engine.thread_ids.new(engine.now_ms()), is_new=True, is_fork=True, below=below)
    if other is not None:
        head, known = other
        raise WrongStateError(
            f"thread {head.thread} exists with another head ({known.value}, not {head.ref})",
            hint="--as-new imports it under a new id",
        )
    if exists:
        raise WrongStateError(
            f"thread {thread} exists, but not thread {free[0]} below it",
            hint="--as-new imports it under a new id",
        )
    below = tuple(each for each in free if each != thread)
    return _Plan(thread, is_new=bool(free), is_fork=False, below=below)


def _ended_below(checked: CheckedBundle, free: Collection[ThreadId]) -> Iterator[ThreadId]:
    """The threads below a renamed one that come with it: those that have ended and are recorded,
    below the thread itself or below one that comes.
    """
    names = (each.name for each in checked.own if each.name.startswith(CALLS))
    taken, opened = {checked.thread}, {name.rpartition("/")[2] for name in names}
    for head in checked.below:
        caller = head.state.caller
        is_below = caller is not None and caller.thread in taken and head.thread not in opened
        if is_below and head.thread in free and head.state.status in FINISHED:
            taken.add(head.thread)
            yield head.thread


class _NoFiles(NamedTuple):
    """Recorded files that need not be stored. `added`: how many would be."""

    added: int = 0

    def keep(self) -> None:
        """Nothing is to be kept."""


def _files(
    engine: "Engine", checked: CheckedBundle, plan: _Plan, options: ImportOptions
) -> "AbstractContextManager[_NoFiles | ImportedFiles]":
    """The recorded files of the bundle, which are kept once the threads are stored."""
    if not checked.bundle.objects:
        return nullcontext(_NoFiles())
    from uwf_core.maintenance.bundle_files import files_to_import, missing_files

    if options.dry_run:
        return nullcontext(_NoFiles(missing_files(engine, checked)))
    taken = (checked.thread, *plan.below) if plan.is_new else checked.heads
    threads = {each: plan.thread if each == checked.thread else each for each in taken}
    return files_to_import(engine, checked, threads)


def _missing(store: "Store", bundle: Bundle) -> int:
    """The number of nodes that the store lacks; the others must be equal.

    Raises:
        CollisionError: one of them differs.
    """
    missing = 0
    for record in bundle.records():
        there = store.stored(record.ref)
        if there is None:
            missing += 1
        else:
            check_same(there, record)
    return missing


def _store_nodes(store: "Store", bundle: Bundle, graph: "Graph") -> None:
    for position in range(len(graph)):
        record = bundle.get(graph.ref(position))
        assert record is not None, "the graph is that of the bundle"
        store.import_record(record._replace(edges=graph.edge_numbers(position)))


def _import_plain(engine: "Engine", bundle: Bundle, *, dry_run: bool) -> "ImportDocument":
    """Store all nodes of a bundle of ocas. No name refers to them."""
    graph, store = check_nodes(bundle), engine.store
    if bundle.get(ref_of(META, encode(schema_of("started")))) is not None:
        raise BundleError(
            "the bundle of a thread lacks its manifest.json",
            where=bundle.location(),
            hint="export it again: uwf thread export THREAD -o FILE",
        )
    added = _missing(store, bundle)
    if added and not dry_run:
        with store.transaction():
            _store_nodes(store, bundle, graph)
    return {
        **dict.fromkeys(("thread", "head", "root")),  # type: ignore[typeddict-item]
        "threads": 0,
        "nodes": len(bundle),
        "added": added,
        **dict.fromkeys(("files", "filesAdded"), 0),
        "imported": bool(added) and not dry_run,
        "dryRun": dry_run,
    }


def _store(engine: "Engine", checked: CheckedBundle, plan: _Plan) -> None:
    """Store nodes and names, within a transaction."""
    store, graph = engine.store, checked.graph
    foreign = [start for start in checked.starts if not store.has(start)]
    _store_nodes(store, checked.bundle, graph)
    crash_points.reach("import")
    for start in foreign:
        mark_imported(store, start)
    for variable in checked.registered:
        if store.variable(variable.name) is None:
            store.set_variable(variable.name, variable.value, variable.tags, None)
    taken = {*plan.below}
    if plan.is_fork:
        state = checked.head.state
        fork_at(engine, plan.thread, checked.head.ref, compacted=state.compacted)
    else:
        taken.add(plan.thread)
    for variable in checked.own:
        thread = thread_of(variable.name)
        is_call = variable.name.startswith(CALLS)
        if thread not in taken or (is_call and variable.name.rpartition("/")[2] not in taken):
            continue
        tags = dict(variable.tags)
        if variable.name == head_name(thread):
            tags[IMPORTED] = json.dumps(_sessions(checked, thread))
        new = store.set_variable(variable.name, variable.value, tags, None)
        if variable.name == head_name(thread):
            move_due(store, None, head_of(new))


def _sessions(checked: CheckedBundle, thread: ThreadId) -> list[str]:
    """The sessions that a thread has in the bundle, also that of an attempt without an end. That of
    a role that calls another thread is this thread, which comes with the bundle.
    """
    roles = checked.heads[thread].state.roles.values()
    found = {session.id for role in roles for session in role.sessions.values()}
    attempts = checked.bundle.variables(attempts_prefix(thread))
    opened = {each.tags["session"] for each in attempts if "session" in each.tags}
    return sorted((found | opened) - {*checked.heads})
