"""What the owner of an SQLite store does to it: look at it, and refuse later writes."""

import sqlite3
from collections.abc import Mapping

from uwf_core.api.store import Fact
from uwf_core.stores import log
from uwf_core.stores.database import SEALED, VERSION, Database

_BYTES = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"


def facts_of(database: Database) -> dict[str, Fact]:
    """See `ManagedBackend.facts`."""
    fault = database.log_fault(thorough=True)
    connection = database.reader()
    if connection is None:
        return {"backend": "sqlite", "exists": False}
    (size,) = connection.execute(_BYTES).fetchone()
    text = "SELECT sql FROM sqlite_master WHERE name = 'sealed_variable'"
    row = connection.execute(text).fetchone()
    trigger = row[0].decode("utf-8", "replace") if row else ""
    return {
        "backend": "sqlite",
        "exists": True,
        "version": sqlite3.sqlite_version,
        "layout": VERSION,
        "bytes": size,
        "log": fault,
        "movedTo": trigger.partition(SEALED)[2].partition("'")[0] or None,
    }


def migrated(connection: sqlite3.Connection, known: Mapping[str, Fact]) -> list[str]:
    """See `ManagedBackend.migrate`; `known` are the facts before it was opened to be written."""
    if known.get("log"):
        log.accept(connection)
        return ["the file without its log"]
    return [] if known["exists"] else ["created"]


def seal(connection: sqlite3.Connection, successor: str) -> None:
    """See `ManagedBackend.seal`: triggers, which every open connection obeys."""
    message = f"{SEALED}{successor}".replace("'", "")
    for table in ("node", "variable", "holder"):
        for number, event in enumerate(("INSERT", "UPDATE", "DELETE")):
            name = f"sealed_{table}" + (f"_{number}" if number else "")
            connection.execute(
                f"CREATE TRIGGER {name} BEFORE {event} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            )
