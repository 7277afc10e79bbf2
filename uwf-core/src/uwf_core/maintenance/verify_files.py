"""The part of `cas verify` for files: whether the trees that steps name are there, and whether
delivered files have the bytes that their nodes describe.

A thread without them stays usable, so it is not marked as damaged.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from uwf_core.api.store import Variable
from uwf_core.errors import StoreError
from uwf_core.maintenance.recorded_trees import steps_of, trees_of
from uwf_core.maintenance.verify_calls import StoreProblem
from uwf_core.thread.decisions import artifacts_of
from uwf_core.thread.head import IMPORTED, head_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

_SHOWN = 12


def delivered_problems(engine: "Engine", heads: Sequence[Variable]) -> Iterator[StoreProblem]:
    """The errors of delivered files, each once."""
    steps, files = set[str](), dict[str, str]()
    for row in heads:
        try:
            for step in steps_of(engine.store, head_of(row), steps):
                files |= {ref: path for path, ref in artifacts_of(step.payload).items()}
        except StoreError:
            continue  # is another error
    if not files:
        return
    from uwf_core.files.content import content_problem  # not for every store

    for ref, path in files.items():
        try:
            wrong = content_problem(engine.store, ref)
        except StoreError:
            continue  # is another error
        if wrong is not None:
            yield StoreProblem("files", f"the file {path!r}: {wrong}")


def files_problems(engine: "Engine", heads: Sequence[Variable]) -> Iterator[StoreProblem]:
    """The errors of the recorded files of threads. Of an imported thread only those that came with
    it, or that it recorded here, have to be there.
    """
    moments, seen = dict[str, str](), set[str]()
    for row in sorted(heads, key=lambda row: IMPORTED in row.tags):
        try:
            found = dict(trees_of(engine.store, head_of(row), seen))
        except StoreError:
            continue  # is another error
        if IMPORTED in row.tags and found:
            from uwf_core.files.keeping import kept_trees

            kept = kept_trees(engine.home, head_of(row).thread)
            found = {tree: moment for tree, moment in found.items() if tree in kept}
        moments |= found
    if not moments:
        return
    from uwf_core.files.keeping import damaged_trees  # not for every store

    for tree, cause in damaged_trees(engine.home, moments).items():
        message = f"the files {moments[tree]} (tree {tree[:_SHOWN]}) cannot be read: {cause}"
        yield StoreProblem("files", message)
