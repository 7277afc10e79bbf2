"""The table of variables: names that move by compare-and-set."""

import json
import sqlite3
from collections.abc import Iterator

from uwf_core.api import Variable

_COLUMNS = "name, value, tags, created_ms, updated_ms, checksum"


class VariableTable:
    """Variables in a database. The caller is within a transaction, or only reads."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def get(self, name: str) -> Variable | None:
        """The variable, or None."""
        row = self._database.execute(
            f"SELECT {_COLUMNS} FROM variable WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else _variable(row)

    def select(self, prefix: str, after: str | None, descending: bool) -> Iterator[Variable]:
        """Those whose name begins so, in order; only beyond `after`."""
        beyond, order = ("name < ?", "DESC") if descending else ("name > ?", "ASC")
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM variable WHERE name >= ? AND name < ?"
            f" AND (? IS NULL OR {beyond}) ORDER BY name {order}",
            (prefix, prefix + "\U0010ffff", after, after),
        )
        return map(_variable, rows)

    def set(self, variable: Variable, expected: bytes | None) -> bool:
        """Write it if the stored one has that checksum (None: if there is none)."""
        before = self.get(variable.name)
        if (before.checksum if before else None) != expected:
            return False
        tags = json.dumps(dict(variable.tags), ensure_ascii=False)
        self._database.execute(
            "INSERT OR REPLACE INTO variable VALUES (?, ?, ?, ?, ?, ?)",
            variable._replace(tags=tags),  # type: ignore[arg-type]
        )
        return True

    def delete(self, name: str, expected: bytes) -> bool:
        """Remove it if it has that checksum."""
        gone = self._database.execute(
            "DELETE FROM variable WHERE name = ? AND checksum = ?", (name, expected)
        )
        return gone.rowcount == 1


def _variable(row: tuple[str, str, str, int, int, bytes]) -> Variable:
    name, value, tags, created_ms, updated_ms, checksum = row
    return Variable(name, value, json.loads(tags), created_ms, updated_ms, checksum)
