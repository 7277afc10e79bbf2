"""The log of past commands: write an entry, `uwf log list`, `uwf log show`."""

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import Moment
from uwf_core.cli.render.colours import Screen
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
    from uwf_core.engine.log_file import LogEntry, LogFile, LoggedError


@command(
    "list",
    "uwf log list",
    "uwf log list --errors --limit 5",
    "uwf log list --thread @last --since 7d",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
    help="Show at most N.",
)  # fmt: skip
@click.option("--thread", metavar="THREAD", help="Show only commands on this thread.")
@click.option("--since", type=Moment(), metavar="WHEN", help="Not older: a date, or 7d, 12h.")
@click.option("--errors", is_flag=True, help="Show only failed commands.")
def list_(
    session: Session, limit: int, thread: str | None, since: int | None, errors: bool
) -> None:
    """List the commands that ran or changed something, newest first."""
    of_thread = _id_or_prefix(session, thread) if thread is not None else ""
    entries = (
        {key: value for key, value in entry.items() if key != "traceback"}
        for entry in _log(session).entries()
        if (entry["exitCode"] or not errors)
        and entry["atMs"] >= (since or 0)
        and (entry["thread"] or "").startswith(of_thread)
    )
    session.emit({"entries": list(islice(entries, limit))}, _entries_text)


@command("show", "uwf log show @last")
@click.argument("entry", metavar="ENTRY")
def show(session: Session, entry: str) -> None:
    """Show one log entry, with the traceback of an error.

    ENTRY is an id of `log list`, a unique prefix of one, or @last.
    """
    session.emit(_log(session).find(entry), _entry_text)


def _id_or_prefix(session: Session, thread: str) -> str:
    """What the ids of the thread's entries begin with; it may be gone from the store."""
    from uwf_core.engine.find import LAST, find_thread

    return find_thread(session.engine, thread) if thread == LAST else thread.upper()


def _log(session: Session) -> "LogFile":
    from uwf_core.engine.log_file import LogFile

    return LogFile(session.engine.home, lambda text: text)


def _entries_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.amounts import duration, moment
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("id", "ENTRY"),
        Column("when", "WHEN", rank=3),
        Column("exitCode", "EXIT", right=True),
        Column("took", "TOOK", rank=4, right=True),
        Column("words", "COMMAND", least=10),
    )
    rows = [
        {
            **each,
            "when": moment(each["atMs"]),
            "took": duration(each["durationMs"]),
            "words": "uwf " + " ".join(each["command"]),
        }
        for each in document["entries"]
    ]
    return table(columns, rows, screen) if rows else "the log is empty"


def _entry_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.amounts import duration, moment
    from uwf_core.cli.render.table import fields

    error = document["error"] or {}
    text = fields(
        [
            ("entry", document["id"]),
            ("when", moment(document["atMs"])),
            ("command", "uwf " + " ".join(document["command"])),
            ("folder", document["cwd"]),
            ("thread", document["thread"]),
            ("exit code", str(document["exitCode"])),
            ("took", duration(document["durationMs"])),
            ("error", f"{error['code']}: {error['message']}" if error else None),
            ("where", error.get("where")),
            ("hint", error.get("hint")),
        ],
        screen,
    )
    return f"{text}\n\n{document['traceback']}" if document.get("traceback") else text


NOT_LOGGED = (UsageError, DefinitionError, PayloadError, BusyError)
"""An invalid call changes nothing, not even the log."""


class LoggedCall(NamedTuple):
    """The result of a call: its arguments, its start (ms since 1970), exit code and error."""

    arguments: Sequence[str]
    started_ms: int
    code: int
    error: BaseException | None


def write_log(session: Session, call: LoggedCall) -> None:
    """Log a call that ran or changed something. A log that cannot be written only causes a note,
    and none if the call failed, since its error must come last.
    """
    from uwf_core.cli.error_report import explain, redacted
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


def _entry(session: Session, call: LoggedCall) -> "LogEntry":
    from uwf_core import __version__
    from uwf_core.cli.error_report import traceback_of
    from uwf_core.engine.log_file import FORMAT, new_id

    return {
        "version": FORMAT,
        "id": new_id(call.started_ms),
        "atMs": call.started_ms,
        "command": list(call.arguments),
        "cwd": session.opened.cwd if session.opened else "",
        "thread": _thread_id(session),
        "exitCode": call.code,
        "durationMs": now_ms() - call.started_ms,
        "pid": os.getpid(),
        "uwf": __version__,
        "error": _error(session, call),
        "traceback": traceback_of(call.error) if call.error else None,
    }


def _thread_id(session: Session) -> str | None:
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


def _error(session: Session, call: LoggedCall) -> "LoggedError | None":
    from uwf_core.cli.error_report import explain

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
