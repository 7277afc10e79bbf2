"""Steps as documents: those of a thread as rows, and one whole step."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.errors import UnknownIdError, UsageError
from uwf_core.thread.decisions import call_of
from uwf_core.views.turns import turns_of_step

if TYPE_CHECKING:
    from uwf_core.engine.documents import StepDocument, StepRow
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.file_documents import FileDocument, FilesDocument
    from uwf_core.thread.types import StepPayload
    from uwf_core.views.recorded import RecordedThread
    from uwf_core.views.recorded_step import RecordedStep


def list_steps(thread: "RecordedThread") -> "list[StepRow]":
    """The steps of a thread, oldest first; the first row is the start."""
    return [_start_row(thread), *map(_row, thread.steps("output"))]


def show_step(step: "RecordedStep") -> "StepDocument":
    """A whole step, or failed attempt."""
    node: StepPayload = step.shown
    return {
        **node,
        "step": step.ref,
        "alias": step.alias,
        "status": step.status,
        "durationMs": step.duration_ms,
        "answered": step.is_answer,
        "childThread": step.child,
        "delivered": files_of_step(step),
        "turns": turns_of_step(step),
    }


def files_of_step(step: "RecordedStep") -> "list[FileDocument]":
    """The files that a step delivered, by their paths."""
    return [
        {"path": each.path, "size": each.size, "mode": f"{each.mode:04o}", "file": each.ref}
        for each in step.files
    ]


def step_files(
    engine: "Engine", step: "RecordedStep", folder: str | None = None, *, force: bool = False
) -> "FilesDocument":
    """The files that a step delivered; with a folder they are written there.

    Raises:
        UsageError: they cannot be written.
    """
    if force and folder is None:
        raise UsageError("--force needs -o DIR", hint="next: uwf step files STEP -o DIR --force")
    folder = None if folder is None else str(Path(engine.cwd, folder))
    written = list[str]()
    if folder is not None:
        from uwf_core.files.content import write_files

        written = write_files(step.files, folder, force=force)
    return {
        "step": step.ref,
        "thread": step.node["thread"],
        "files": files_of_step(step),
        "folder": folder,
        "written": written,
    }


def delivered_file(step: "RecordedStep", path: str) -> bytes:
    """The content of a file that a step delivered.

    Raises:
        UnknownIdError: the step delivered no file at this path.
    """
    for each in step.files:
        if each.path == path:
            return each.read()
    raise UnknownIdError(
        f"step {step.ref} delivered no file {path!r}", hint=f"next: uwf step files {step.ref}"
    )


def _start_row(thread: "RecordedThread") -> "StepRow":
    nothing = dict.fromkeys(("completedAtMs", "durationMs", "usage", "childThread", "branches"))
    return {
        "step": thread.start, "number": 0, "role": "$START", "agent": thread.node["agent"],
        "alias": thread.alias, "status": None, "startedAtMs": thread.node["startedAtMs"],
        **nothing,  # type: ignore[typeddict-item]
        "denials": [], "attempts": 0, "answered": False,
    }  # fmt: skip


def _row(step: "RecordedStep") -> "StepRow":
    node: Any = step.node
    return {
        "step": step.ref,
        **{key: node[key] for key in _OF_NODE},  # type: ignore[typeddict-item]
        "alias": step.alias,
        "status": step.status,
        "durationMs": step.duration_ms,
        "attempts": len(node["previousAttempts"]) + 1,
        "answered": step.is_answer,
        "childThread": step.child,
        "branches": call_of(node)["branches"],
    }


_OF_NODE = ("number", "role", "agent", "startedAtMs", "completedAtMs", "usage", "denials")
