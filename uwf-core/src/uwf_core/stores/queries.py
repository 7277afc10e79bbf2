"""SQL that depends on its values: number of references, prefix and tags, a change."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.api.store import Variable, WantedVariables
from uwf_core.ids import number_of
from uwf_core.process import crash_points
from uwf_core.stores.rows import RECORD_COLUMNS_OF_SMALL, VARIABLE_COLUMNS, row_of_variable

if TYPE_CHECKING:
    import sqlite3

BATCH = 500
"""The maximum number of values in one statement."""

_BEFORE = (
    f"SELECT {RECORD_COLUMNS_OF_SMALL} FROM node, "
    "(SELECT rowid AS place, type AS kind FROM node WHERE ref = ?) "
    "WHERE type = kind AND node.rowid <= place AND node.rowid > place - ? "
    "ORDER BY node.rowid DESC LIMIT ?"
)
_ROWS_OF_A_STEP = 32
"""How far to look back for each step: what a step has besides, and the steps of other threads."""


def nodes_before(ref: str, limit: int) -> tuple[str, tuple[int | None, int, int]]:
    """A node, and those of its type in the rows before, newest first."""
    return _BEFORE, (number_of(ref), _ROWS_OF_A_STEP * limit, limit)


def query(
    columns: str,
    prefix: str,
    statuses: Collection[str] | None,
    after: str | None,
    descending: bool,
    one_of: WantedVariables | None = None,
) -> tuple[str, list[Any]]:
    """Rows by name; with statuses, one ordered walk over the index of each, merged."""
    low, high, above = prefix, prefix + "\U0010ffff", ">="
    # One bound on each side: SQLite would seek by one of two, and visit every row up to the other.
    if after is not None and descending:
        high = min(high, after, key=str.encode)
    elif after is not None and after.encode() >= low.encode():
        low, above = after, ">"
    values: list[Any] = [low, high]
    one = f"SELECT {columns} FROM variable WHERE name {above} ? AND name < ?"
    order = " ORDER BY name DESC" if descending else " ORDER BY name"
    if one_of is not None:
        condition, more = _one_of(one_of)
        one, values = one + condition, values + more
    if statuses is None:
        return one + order, values
    if not statuses:
        return one + " AND 0" + order, values
    each = [one + " AND status = ?"] * len(statuses)
    return " UNION ALL ".join(each) + order, [x for s in statuses for x in (*values, s)]


def _one_of(wanted: WantedVariables) -> tuple[str, list[Any]]:
    """The condition of a row, and its values. It searches the tags, so that a tag that looks like
    the end of another one, or like a value, matches as well.
    """
    conditions: list[str] = [f"name IN ({marks(wanted.names)})"] if wanted.names else []
    values: list[Any] = [*wanted.names]
    for key, those in wanted.tags.items():
        if key == "status" and those is not None:
            conditions.append(f"status IN ({marks(those)})")
            values += those
        else:
            parts = [f"{key}\0{value}".encode() for value in ([""] if those is None else those)]
            conditions += ["instr(tags, ?)"] * len(parts)
            values += parts
    return f" AND ({' OR '.join(conditions) or '0'})", values


def has_tags(tags: Mapping[str, str], wanted: Mapping[str, Collection[str]]) -> bool:
    """Whether each wanted tag has one of its wanted values."""
    return all(tags.get(key) in values for key, values in wanted.items())


def batches(numbers: Iterable[int | None]) -> Iterator[list[int]]:
    """Numbers of references in batches for one statement; None, an invalid one, is skipped."""
    valid = [number for number in numbers if number is not None]
    return (valid[at : at + BATCH] for at in range(0, len(valid), BATCH))


def marks(batch: Collection[Any]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(batch))


_ADD_VARIABLE = f"INSERT OR IGNORE INTO variable ({VARIABLE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_CHANGE_VARIABLE = (
    "UPDATE variable SET value = ?, tags = ?, created = ?, updated = ?, checksum = ? "
    "WHERE name = ? AND checksum = ? AND status IS ?"
)
_MOVE_STATUS = "UPDATE variable SET status = ? WHERE name = ? AND checksum = ?"
_DROP_VARIABLE = "DELETE FROM variable WHERE name = ? AND checksum = ?"


def write_variable(
    connection: "sqlite3.Connection", name: str, variable: Variable | None, expected: bytes | None
) -> bool:
    """Compare-and-set, or delete, a variable. Within a transaction."""
    crash_points.reach("variable")
    if variable is None:
        return connection.execute(_DROP_VARIABLE, (name, expected)).rowcount == 1
    row = row_of_variable(variable)
    if expected is None:
        return connection.execute(_ADD_VARIABLE, row).rowcount == 1
    _, value, status, *others = row
    change = (value, *others, name, expected, status)
    # A status that stays as it is leaves the pages of its index unwritten.
    if connection.execute(_CHANGE_VARIABLE, change).rowcount == 1:
        return True
    connection.execute(_MOVE_STATUS, (status, name, expected))
    return connection.execute(_CHANGE_VARIABLE, change).rowcount == 1
