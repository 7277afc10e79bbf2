"""Steps and their turns as documents: the rows of a thread, one whole step, the running one."""

import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.errors import UnknownIdError, UsageError
from uwf_core.thread.decisions import call_of

if TYPE_CHECKING:
    from uwf_core.engine.documents import StepDocument, StepRow, TurnDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.file_documents import FileDocument, FilesDocument
    from uwf_core.thread.decisions import OpenAttempt
    from uwf_core.thread.types import StepPayload
    from uwf_core.views.recorded import RecordedThread
    from uwf_core.views.recorded_step import RecordedStep, RecordedTurn


POLL_SECONDS = 0.2


def list_turns(
    thread: "RecordedThread", role: str | None = None, *, running: bool = False
) -> "list[TurnDocument]":
    """All turns of a thread in order, or those of one role. Those of failed attempts come before
    those of the attempt that became the step. `running`: only those of the running step.
    """
    stored = () if running else _stored_turns(thread)
    return list(_of_role(chain(stored, _open_turns(thread)), role))


def follow_turns(thread: "RecordedThread", role: str | None = None) -> "Iterator[TurnDocument]":
    """All turns so far, then those of the running step as they arrive, until that step ends.

    A turn that changes (the result of a tool arrives) is repeated with the same `index`.
    """
    while thread.state.attempt is None and thread.holder is not None:
        time.sleep(POLL_SECONDS / 4)  # a run begins, and has not opened its attempt
        thread = thread.again()
    first = thread.state.attempt
    yield from _of_role(_stored_turns(thread), role)
    seen: dict[int, str] = {}
    while first is not None:
        thread = thread.again()
        is_same = thread.state.attempt == first
        step = None if is_same else thread.result_of(first)
        for turn in thread.open_turns if is_same else step.turns if step is not None else ():
            if seen.get(turn.index) != turn.ref:
                seen[turn.index] = turn.ref
                yield from _of_role([turn_document(turn, first, step)], role)
        if not is_same or thread.holder is None:
            return
        time.sleep(POLL_SECONDS)


def turns_of_step(step: "RecordedStep") -> "list[TurnDocument]":
    """The turns of one step."""
    return [turn_document(turn, step, step) for turn in step.turns]


def _of_role(turns: "Iterable[TurnDocument]", role: str | None) -> "Iterator[TurnDocument]":
    return (turn for turn in turns if role is None or turn["role"] == role)


def _stored_turns(thread: "RecordedThread") -> "Iterator[TurnDocument]":
    """Those of the steps, of each after those of its failed attempts; last those of the attempts
    at the pending step.
    """
    for step in thread.steps():
        for each in (*step.attempts, step):
            yield from turns_of_step(each)
    for each in thread.pending:
        yield from turns_of_step(each)


def _open_turns(thread: "RecordedThread") -> "Iterator[TurnDocument]":
    attempt = thread.state.attempt
    if attempt is not None:
        yield from (turn_document(turn, attempt, None) for turn in thread.open_turns)


def turn_document(
    turn: "RecordedTurn", of: "RecordedStep | OpenAttempt", step: "RecordedStep | None"
) -> "TurnDocument":
    """A turn of a step or failed attempt, or (without `step`) of an open attempt."""
    return {
        **turn.shown,
        "step": None if step is None else step.ref,
        "number": of.number,
        "role": of.role,
    }


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
