"""The commands of the log."""

from itertools import islice

from uwf_core.engine.engine import Engine
from uwf_core.engine.find import LAST, find_thread
from uwf_core.engine.log_file import LogEntry, LogFile


def list_entries(
    engine: Engine, limit: int, thread: str | None, since: int | None, *, errors: bool
) -> list[LogEntry]:
    """The newest entries, without tracebacks; of a thread also where that is gone from the store.

    Raises:
        UnknownIdError: there is no last thread. StoreError: a file of the log cannot be read.
    """
    of_thread = find_thread(engine, thread) if thread == LAST else (thread or "").upper()
    entries = (
        entry
        for entry in _log(engine).entries()
        if (entry["exitCode"] or not errors)
        and entry["atMs"] >= (since or 0)
        and (entry["thread"] or "").startswith(of_thread)
    )
    found = [*islice(entries, limit)]
    for each in found:
        each.pop("traceback", None)
    return found


def show_entry(engine: Engine, entry: str) -> LogEntry:
    """One entry. Raises as `LogFile.find`."""
    return _log(engine).find(entry)


def _log(engine: Engine) -> LogFile:
    return LogFile(engine.home, lambda text: text)
