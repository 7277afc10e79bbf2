"""`uwf eval new`."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Session, working_folder
from uwf_core.errors import UsageError
from uwf_eval.cli.recorded import selected, selection_of
from uwf_eval.task.load import check_new, write_starter
from uwf_eval.task.recorded import Selection, write_task
from uwf_eval.task.whole_thread import read_fields, write_thread_task


def new(session: Session, task: str, expect: Sequence[str], **options: Any) -> None:
    """Create a task."""
    folder = Path(os.path.normpath(Path(working_folder(), task)))
    document: dict[str, Any] = {"name": folder.name, "folder": str(folder)}
    if len(options["from_thread"]) == 1 and not (options["role"] or options["from_step"]):
        document["expected"] = _write_thread(session, folder, expect, options)
    elif expect:
        raise UsageError("--expect needs --from-thread without --role", hint="name one thread")
    elif (wanted := selection_of((task,), options)).is_empty:
        write_starter(folder)
    else:
        _write_recorded(session, folder, wanted)
    document["hint"] = f"uwf eval run {task} --repeat 3"
    session.emit(document, lambda each, _: f"{each['folder']}\nnext: {each['hint']}")


def _write_thread(
    session: Session, folder: Path, expect: Sequence[str], options: Mapping[str, Any]
) -> Mapping[str, Any]:
    [thread] = options["from_thread"]
    with Client.open(env=session.env, cwd=working_folder()) as client:
        files = _files(options["files"])
        written = write_thread_task(client, thread, folder, files, read_fields(expect))
    if written.without_files:
        session.note(f"note: no files: {written.without_files}; --files DIR adds them")
    if not expect:
        session.note("note: expected.json has the recorded answer; correct it")
    return written.expected


def _write_recorded(session: Session, folder: Path, wanted: Selection) -> None:
    check_new(folder)
    with Client.open(env=session.env, cwd=working_folder()) as client:
        steps = selected(session, client, wanted).steps
    try:
        write_task(folder, folder.name, steps, _files(wanted.files))
    except OSError as error:
        raise UsageError(
            f"cannot write the task: {error.strerror}", where=str(folder),
            hint="choose a writable folder",
        ) from error  # fmt: skip


def _files(word: str | None) -> Path | None:
    return None if word is None else Path(working_folder(), word)
