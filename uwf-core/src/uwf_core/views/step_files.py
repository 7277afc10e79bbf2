"""The recorded files of a step: what it changed."""

from typing import TYPE_CHECKING, TypedDict

from uwf_core.errors import WrongStateError
from uwf_core.files.difference import PathChange, changed_paths, patch
from uwf_core.thread.calls import CALL_AGENT
from uwf_core.thread.decisions import workspace_of

if TYPE_CHECKING:
    from uwf_core.thread.types import SnapshotPayload
    from uwf_core.views.recorded_step import RecordedStep


class StepDiffDocument(TypedDict):
    """What `step diff` gives: the trees before and after a step, and the changed `files`. `nested`:
    the repositories inside that another commit is checked out in, as [before, after].
    `notRecorded`: the paths that are not recorded after it, with the causes, for people.
    """

    step: str
    thread: str
    folder: str
    before: str
    after: str
    files: list[PathChange]
    nested: dict[str, list[str | None]]
    notRecorded: str | None


def diff_step(home: str, step: "RecordedStep") -> StepDiffDocument:
    """The changes of files between the snapshots before and after a step.

    Raises:
        WrongStateError: its files are not recorded.
        StoreError: they are missing or damaged.
    """
    folder, before, after = recorded_files(step)
    assert before["tree"] is not None
    assert after["tree"] is not None
    return {
        "step": step.ref,
        "thread": step.node["thread"],
        "folder": folder,
        "before": before["tree"],
        "after": after["tree"],
        "files": changed_paths(home, before["tree"], after["tree"]),
        "nested": {
            path: [before["nested"].get(path), after["nested"].get(path)]
            for path in sorted({*before["nested"], *after["nested"]})
            if before["nested"].get(path) != after["nested"].get(path)
        },
        "notRecorded": after["reason"],
    }


def patch_of_step(home: str, step: "RecordedStep") -> str:
    """The changes of files by a step as a patch; raises as `diff_step`."""
    _, before, after = recorded_files(step)
    assert before["tree"] is not None
    assert after["tree"] is not None
    return patch(home, before["tree"], after["tree"])


def recorded_files(step: "RecordedStep") -> "tuple[str, SnapshotPayload, SnapshotPayload]":
    """The recorded folder of a step, and the snapshots before and after it.

    Raises:
        WrongStateError: its files are not recorded; the message has the reason.
    """
    workspace = workspace_of(step.node)
    if workspace is None:
        reason, hint = "its workflow does not record them", _CURE
        if step.node["agent"] == CALL_AGENT:
            reason, hint = "it is a call", f"next: uwf step show {step.ref}"
        raise WrongStateError(f"step {step.ref} has no recorded files: {reason}", hint=hint)
    after = workspace["after"]
    if after is None:
        raise WrongStateError(
            f"step {step.ref} has no recorded files after it: its run was killed",
            hint="next: uwf step list THREAD",
        )
    for snapshot in (workspace["before"], after):
        if snapshot["tree"] is None:
            raise WrongStateError(
                f"step {step.ref} has no recorded files: {snapshot['reason']}",
                hint=f"next: uwf step show {step.ref}",
            )
    return workspace["folder"], workspace["before"], after


_CURE = (
    "add `record: true` to the workflow, or `uwf config set workspace.record true`, before the "
    "thread runs"
)
