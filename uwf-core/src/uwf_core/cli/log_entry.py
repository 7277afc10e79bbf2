"""The log entry of one call of the command."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from uwf_core.cli.session import Session, now_ms
from uwf_core.errors import (
    BusyError,
    DefinitionError,
    PayloadError,
    StoreError,
    UsageError,
    UwfError,
)
from uwf_core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from uwf_core.engine.log_file import LogEntry, LoggedError

NOT_LOGGED = (UsageError, DefinitionError, PayloadError, BusyError)
"""An invalid call changes nothing, not even the log."""


class Call(NamedTuple):
    """The result of a call: its arguments, its start (ms since 1970), exit code and error."""

    arguments: Sequence[str]
    started_ms: int
    code: int
    error: BaseException | None


def write_log(session: Session, call: Call) -> None:
    """Log a call that ran or changed something. A log that cannot be written only causes a note,
    and none if the call failed, since its error must come last.
    """
    from uwf_core.cli.failure import explain
    from uwf_core.cli.redaction import redacted
    from uwf_core.engine.log_file import LogFile

    engine = session.opened
    if engine is None or (call.error and isinstance(explain(call.error), NOT_LOGGED)):
        return
    log = LogFile(engine.home, lambda text: str(redacted(session, text)))
    try:
        log.append(_entry(session, call))
    except StoreError as problem:
        if call.error is None:
            session.note(f"note: {problem.message} ({problem.where})")


def _entry(session: Session, call: Call) -> "LogEntry":
    from uwf_core import __version__
    from uwf_core.cli.failure import traceback_of
    from uwf_core.engine.log_file import FORMAT, new_id

    return {
        "version": FORMAT,
        "id": new_id(call.started_ms),
        "atMs": call.started_ms,
        "command": list(call.arguments),
        "cwd": session.opened.cwd if session.opened else "",
        "thread": _thread(session),
        "exitCode": call.code,
        "durationMs": now_ms() - call.started_ms,
        "pid": os.getpid(),
        "uwf": __version__,
        "error": _error(session, call),
        "traceback": traceback_of(call.error) if call.error else None,
    }


def _thread(session: Session) -> str | None:
    """The thread's id, also where the command had no more than a word for it."""
    from uwf_core.engine.find import find_thread
    from uwf_core.ids import ThreadId

    word = session.thread
    if word is None or session.opened is None or ThreadId.matches(word):
        return word
    try:
        return find_thread(session.opened, word)
    except UwfError:
        return word


def _error(session: Session, call: Call) -> "LoggedError | None":
    from uwf_core.cli.failure import explain

    if call.error is not None:
        error = explain(call.error)
        return {
            "code": error.code,
            "message": error.message,
            "where": error.where,
            "hint": error.hint,
        }
    if session.failure is not None:
        kind, message = session.failure
        return {"code": kind, "message": message, "where": None, "hint": None}
    return None
