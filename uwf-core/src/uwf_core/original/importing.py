"""Import a home of the original: its threads and registered workflows, read-only and marked."""

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from uwf_core.errors import BundleError, MissingNodeError, PayloadError
from uwf_core.original.fields import NotImported
from uwf_core.original.home import OriginalHome
from uwf_core.original.names import read_names
from uwf_core.original.nodes import NodeCopy
from uwf_core.original.threads import BuiltThread, ThreadBuilder, name_thread
from uwf_core.thread.head import DAMAGE, IMPORTED, ORIGINAL
from uwf_core.thread.names import head_name, prefixes_of
from uwf_core.workflow.definition import NAME_PATTERN
from uwf_core.workflow.registry import register, registered

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.original_documents import (
        OriginalDocument,
        OriginalThreadDocument,
        OriginalWorkflowDocument,
    )
    from uwf_core.original.names import OriginalThread


_NOT_OF_STEPS = (DAMAGE, IMPORTED)
"""The tags of a head that change while the thread's steps stay."""


class _Undone(Exception):
    """Ends the transaction of a dry run."""


def import_original(engine: "Engine", path: str, *, dry_run: bool = False) -> "OriginalDocument":
    """Import all threads and workflow names of a home; any damage rejects all of it.

    A thread whose nodes are incomplete, or that has no form here, is left out with the reason. One
    that was imported before is replaced if it has other steps now. Names of workflows never move.

    Raises:
        UsageError: the folder is not a home of the original.
        BundleError: a file of it is damaged or cannot be read.
        CollisionError: the store has another payload under one of its references.
    """
    home = OriginalHome(path)
    names = read_names(home)
    if not names.threads and not names.workflows:
        raise BundleError(
            "this home names no threads and no workflows",
            where=str(home.path),
            hint="give the folder that has both .uwf and .ocas",
        )
    document: OriginalDocument = {
        "folder": str(home.path),
        "threads": [],
        "workflows": [],
        "dryRun": dry_run,
    }
    with suppress(_Undone), engine.store.transaction():
        builder = ThreadBuilder(engine, NodeCopy(home, engine.store))
        builder.add_turns(names.threads)
        document["threads"] = [_thread(engine, builder, each) for each in names.threads]
        document["workflows"] = [
            _workflow(engine, builder, name, ref) for name, ref in names.workflows.items()
        ]
        if dry_run:
            raise _Undone
    return document


def _thread(
    engine: "Engine", builder: ThreadBuilder, original: "OriginalThread"
) -> "OriginalThreadDocument":
    row: OriginalThreadDocument = {
        "original": original.id,
        "thread": original.thread,
        "workflowName": "",
        "status": original.status,
        "steps": 0,
        "result": "skipped",
        "reason": None,
    }
    try:
        built = builder.build(original)
    except (MissingNodeError, NotImported, PayloadError) as error:
        return {**row, "reason": error.message}
    row |= {"workflowName": built.state.workflow_name, "steps": built.state.steps}
    row["status"] = built.state.status
    known = engine.store.variable(head_name(built.thread))
    if known is not None and ORIGINAL not in known.tags:
        return {**row, "reason": "another thread has this id here"}
    if known is not None:
        tags = {name: text for name, text in known.tags.items() if name not in _NOT_OF_STEPS}
        if (known.value, tags) == (built.head, built.tags):
            return {**row, "result": "known"}
        _forget(engine, built)
    name_thread(engine, built)
    return {**row, "result": "imported" if known is None else "updated"}


def _forget(engine: "Engine", built: BuiltThread) -> None:
    """Delete the names of an earlier import of the thread."""
    for prefix in (head_name(built.thread), *prefixes_of(built.thread)):
        for each in engine.store.rows(prefix):
            engine.store.delete_variable(each)


def _workflow(
    engine: "Engine", builder: ThreadBuilder, name: str, ref: str
) -> "OriginalWorkflowDocument":
    row: OriginalWorkflowDocument = {
        "name": name,
        "workflow": None,
        "result": "skipped",
        "reason": None,
    }
    if not re.match(NAME_PATTERN, name):
        return {**row, "reason": f"{json.dumps(name)} is not a name of a workflow here"}
    try:
        row["workflow"] = workflow = builder.workflow(ref)
    except (MissingNodeError, NotImported) as error:
        return {**row, "reason": error.message}
    there = registered(engine.store, name)
    if there == workflow:
        return {**row, "result": "known"}
    if there is not None:
        return {**row, "reason": f"the name refers to another workflow here ({there})"}
    register(engine.store, name, workflow)
    return {**row, "result": "imported"}
