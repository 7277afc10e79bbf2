"""The part of `cas verify` for recorded files: whether the trees that steps name are there.

A thread without them stays usable, so it is not marked as damaged.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from uwf_core.api.store import Variable
from uwf_core.errors import StoreError
from uwf_core.ids import Ref
from uwf_core.thread.head import IMPORTED, head_of
from uwf_core.thread.history import Step, failed_steps, newest_first, read_step
from uwf_core.upkeep.verify_calls import StoreProblem

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine

_SHOWN = 12


def files_problems(engine: "Engine", heads: Sequence[Variable]) -> Iterator[StoreProblem]:
    """The errors of the recorded files of threads. Those of an imported thread may have stayed
    behind.
    """
    trees: dict[str, str] = {}
    seen = set[str]()
    for row in heads:
        if IMPORTED in row.tags:
            continue
        try:
            for step in _steps(engine.store, row, seen):
                for tree, moment in trees_of(step):
                    trees.setdefault(tree, f"{moment} step {step.ref}")
        except StoreError:
            continue  # is another error
    if not trees:
        return
    from uwf_core.files.keeping import damaged_trees  # not for every store

    for tree, cause in damaged_trees(engine.home, trees).items():
        message = f"the files {trees[tree]} (tree {tree[:_SHOWN]}) cannot be read: {cause}"
        yield StoreProblem("files", message)


def trees_of(step: Step) -> Iterable[tuple[str, str]]:
    """The trees that a step names, and of which moment they are."""
    workspace = step.payload["workspace"]
    if workspace is None:
        return
    for moment, snapshot in (("before", workspace["before"]), ("after", workspace["after"])):
        if snapshot is not None and snapshot["tree"] is not None:
            yield snapshot["tree"], moment


def _steps(store: "Store", row: Variable, seen: set[str]) -> Iterator[Step]:
    """The steps and failed attempts of a thread that are not `seen`."""
    head = head_of(row)
    for ref in failed_steps(store, head):
        yield read_step(store, ref)
    for step in newest_first(store, Ref(head.ref), Ref(head.state.start)):
        if step.ref in seen:
            return
        seen.add(step.ref)
        yield step
        for failed in step.payload["previousAttempts"]:
            yield read_step(store, Ref(failed))
