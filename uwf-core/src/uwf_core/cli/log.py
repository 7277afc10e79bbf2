"""The log of past commands: `uwf log list`, `uwf log show`."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session

if TYPE_CHECKING:
    from uwf_core.engine.log_file import LogFile


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


def show(session: Session, entry: str) -> None:
    """Show one log entry."""
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
