"""The files before and after an attempt, and what the user learns if they cannot be recorded."""

from typing import TYPE_CHECKING

from uwf_core.files.snapshot import after_step, before_step
from uwf_core.ids import Ref
from uwf_core.thread.decisions import workspace_of
from uwf_core.thread.history import read_step

if TYPE_CHECKING:
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.thread.types import SnapshotPayload, WorkspacePayload


def files_before(run: "Run", attempt: "Attempt") -> "WorkspacePayload":
    """Record the files before an attempt."""
    workspace = before_step(run.engine.home, attempt.head.thread, attempt.task.cwd)
    _notice(run, workspace["before"], _last(run, attempt))
    return workspace


def files_after(run: "Run", attempt: "Attempt") -> "WorkspacePayload":
    """Record the files after an attempt."""
    before = workspace_of(attempt.payload)
    assert before is not None
    workspace = after_step(run.engine.home, attempt.head.thread, before)
    assert workspace["after"] is not None
    _notice(run, workspace["after"], before["before"])
    return workspace


def _last(run: "Run", attempt: "Attempt") -> "SnapshotPayload | None":
    """The snapshot after the step before."""
    if attempt.task.prev is None:
        return None
    workspace = workspace_of(read_step(run.engine.store, Ref(attempt.task.prev)).payload)
    return workspace and workspace["after"]


def _notice(run: "Run", now: "SnapshotPayload", last: "SnapshotPayload | None") -> None:
    """Report once why files are not recorded."""
    known = None if last is None else (last["tree"] is None, last["reason"])
    if now["reason"] is not None and known != (now["tree"] is None, now["reason"]):
        what = "the files are" if now["tree"] is None else "some files are"
        run.watch.notice(f"{what} not recorded: {now['reason']}")
