"""SQL that depends on the query: number of references, prefix and tags."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

BATCH = 500
"""The maximum number of values in one statement."""


def query(
    columns: str,
    prefix: str,
    statuses: Collection[str] | None,
    after: str | None,
    descending: bool,
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
    if statuses is None:
        return one + order, values
    if not statuses:
        return one + " AND 0" + order, values
    each = [one + " AND status = ?"] * len(statuses)
    return " UNION ALL ".join(each) + order, [x for s in statuses for x in (*values, s)]


def has_tags(tags: Mapping[str, str], wanted: Mapping[str, Collection[str]]) -> bool:
    """Whether each wanted tag has one of its wanted values."""
    return all(tags.get(key) in values for key, values in wanted.items())


def batches(numbers: Iterable[int | None]) -> Iterator[list[int]]:
    """Numbers of references in batches for one statement; None, an invalid one, is skipped."""
    valid = [number for number in numbers if number is not None]
    return (valid[at : at + BATCH] for at in range(0, len(valid), BATCH))


def marks(batch: Sequence[Any]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(batch))
