"""Wait for other processes that write to the store, and end that when the run is cancelled.

SQLite itself would wait without returning to Python, which handles no signal meanwhile.
"""

import sqlite3
import time
from typing import Any, Final

from uwf_core.process.cancel import current_cancel

BUSY_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.005


class WaitingConnection(sqlite3.Connection):
    """A connection whose statements wait for other writers, at most `busy_seconds`."""

    busy_seconds = BUSY_SECONDS

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As that of sqlite3. Within a transaction nothing is repeated."""
        deadline = None
        while True:
            try:
                return super().execute(sql, parameters)
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY or self.in_transaction:
                    raise
                deadline = deadline or time.monotonic() + self.busy_seconds
                if time.monotonic() > deadline or is_cancelled():
                    raise
                time.sleep(_PAUSE_SECONDS)


def is_cancelled() -> bool:
    """Whether the run to which this code belongs may not wait any longer."""
    cancel = current_cancel()
    return cancel is not None and cancel.is_over()


def primary_code(error: sqlite3.Error) -> int:
    """The code of an error of SQLite, without its details."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
