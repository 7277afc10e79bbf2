"""What a run reports: its outcome, which is the document, and the file
that keeps it for `thread wait`, `$UWF_HOME/runs/<thread>.json`.
"""

# Loaded by every command that shows a thread: pathlib is not imported for that.
# ruff: noqa: PTH105, PTH108, PTH118

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.errors import UwfError
from uwf_core.ids import ThreadId
from uwf_core.process import crash_points
from uwf_core.process.folders import make_folder
from uwf_core.thread.head import Head
from uwf_core.thread.lifecycle import wait_fields
from uwf_core.thread.names import FINISHED

if TYPE_CHECKING:
    from uwf_core.engine.context import Run
    from uwf_core.engine.documents import ExecDocument, StepResult
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Broadcast


@contextmanager
def with_notices(engine: "Engine", thread: ThreadId) -> Iterator[None]:
    """Mark a thread before its run, and have its events sent afterwards, if the user wants that."""
    notify = engine.settings.notify
    if not (notify.command or notify.services):
        yield
        return
    from uwf_core.engine import notices  # not for every user

    notices.mark_due(engine, thread)
    try:
        yield
    finally:
        notices.send_soon(engine)


FOLDER = "runs"


class Outcome(NamedTuple):
    """The document of a run, its exit code, and the error that prevented a further step."""

    document: "ExecDocument"
    exit_code: int
    error: UwfError | None = None


def exec_document(
    head: Head, steps: "Sequence[StepResult]", status: str | None = None
) -> "ExecDocument":
    """The steps of a run, and the state of the thread after them."""
    suspension = None if status else head.state.suspension
    return {
        "thread": head.thread,
        "workflow": head.state.workflow,
        "workflowName": head.state.workflow_name,
        "steps": list(steps),
        "status": status or head.state.status,  # type: ignore[typeddict-item]
        "suspendReason": suspension.reason if suspension else None,
        "suspendMessage": suspension.message if suspension else None,
        **wait_fields(None if status else head.state.wait),
        "done": (status or head.state.status) == "completed",
    }


def ended_by(head: Head, steps: "Sequence[StepResult]", error: UwfError) -> Outcome:
    """The outcome of a run that `error` ended."""
    return Outcome(exec_document(head, steps), error.exit_code, error)


def save_run(run: "Run", outcome: Outcome) -> Outcome:
    """Save the outcome of a run for `thread wait`, and return it. The caller holds the lock of the
    thread, so that there is one writer.
    """
    engine, thread = run.engine, run.head.thread
    if engine.durable:  # nobody waits for a thread of a temporary store
        try:
            write_run(engine, thread, outcome)
        except OSError as error:
            run.watch.notice(f"`uwf thread wait {thread}` will not know this run: {error}")
    return outcome


def write_run(engine: "Engine", thread: ThreadId, outcome: Outcome) -> None:
    """Write the file. It is not synced, since the chain has all of it."""
    make_folder(os.path.join(engine.home, FOLDER))
    fresh = _file(engine.home, f".{thread}.json")
    text = json.dumps(outcome_fields(engine, outcome))
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        crash_points.reach("run-file")
        os.replace(fresh, _file(engine.home, f"{thread}.json"))
    except OSError:
        _delete(fresh)  # a full disk must not keep half of it
        raise


def read_run(home: str, thread: ThreadId) -> Outcome | None:
    """The outcome of the last run, None if it is unknown."""
    try:
        with open(_file(home, f"{thread}.json"), encoding="utf-8") as file:
            return outcome_of(json.load(file))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def outcome_fields(engine: "Engine", outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON for another process, without secrets."""
    error = outcome.error and engine.redactor.value(outcome.error.document()["error"])
    return {"document": outcome.document, "exitCode": outcome.exit_code, "error": error}


def outcome_of(fields: Mapping[str, Any]) -> Outcome:
    """The outcome that another process has written; raises as `error_of`."""
    error = fields["error"] and error_of(fields["error"])
    return Outcome(fields["document"], fields["exitCode"], error)


def error_of(document: Mapping[str, Any]) -> UwfError:
    """The error that another process has written.

    Raises:
        KeyError, TypeError: this is not an error document.
    """
    error = UwfError(document["message"], where=document.get("where"), hint=document.get("hint"))
    error.code, error.exit_code = document["code"], document["exitCode"]
    return error


def forget_run(home: str, thread: ThreadId) -> None:
    """Delete the outcome of the last run, and the draft of a killed process."""
    for name in (f"{thread}.json", f".{thread}.json"):
        _delete(_file(home, name))


def errors_file(home: str, thread: ThreadId) -> str:
    """The file to which the background runs of a thread write their stderr."""
    return _file(home, f"{thread}.err")


def _file(home: str, name: str) -> str:
    return f"{home}/{FOLDER}/{name}"


def _delete(file: str) -> None:
    try:  # noqa: SIM105 (twice per step, and a context costs three calls)
        os.unlink(file)
    except FileNotFoundError:
        pass  # nothing to delete


def announce_end(engine: "Engine", head: Head, watch: "Broadcast") -> None:
    """Report that a thread is completed or cancelled, if it is."""
    if head.state.status not in FINISHED:
        return
    from uwf_core.api.events import ThreadEnded

    watch.event(
        ThreadEnded(
            thread=head.thread,
            workflow=head.state.workflow,
            workflow_name=head.state.workflow_name,
            status=head.state.status,
            at_ms=engine.now_ms(),
        )
    )
