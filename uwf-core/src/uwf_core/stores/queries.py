"""SQL that depends on the query: number of references, prefix and tags."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from uwf_core.ids import number_of
from uwf_core.stores.rows import VARIABLE_COLUMNS

BATCH = 500
"""The maximum number of values in one statement."""


def query(
    prefix: str, statuses: Collection[str] | None, after: str | None, descending: bool
) -> tuple[str, list[Any]]:
    """Rows by name; with statuses, one ordered walk over the index of each, merged."""
    conditions = ["name >= ?", "name < ?"]
    values: list[Any] = [prefix, prefix + "\U0010ffff"]
    if after is not None:
        conditions.append("name < ?" if descending else "name > ?")
        values.append(after)
    one = f"SELECT {VARIABLE_COLUMNS} FROM variable WHERE " + " AND ".join(conditions)
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


def batches(refs: Iterable[str]) -> Iterator[list[int]]:
    """References as numbers, in batches for one statement; invalid ones are skipped."""
    batch: list[int] = []
    for ref in refs:
        number = number_of(ref)
        if number is not None:
            batch.append(number)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def marks(batch: Sequence[Any]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(batch))
