"""All variables of a store, page by page."""

from collections.abc import Callable, Iterator

from uwf_core.api.store import Variable
from uwf_core.cas.variables import damaged, is_intact

Rows = Callable[..., list[Variable]]
"""Reads rows, as `StoreBackend.variables`."""
_PAGE = 500


def every_row(rows: Rows, prefix: str = "") -> Iterator[Variable]:
    """Every variable whose name begins with `prefix`, sorted by name, **unchecked**."""
    after: str | None = None
    while page := rows(prefix, after=after, limit=_PAGE):
        last = page[-1].name
        if after is not None and last.encode() <= after.encode():
            # A damaged name sorts elsewhere than its row lies: paging by names would go in circles.
            seen = after.encode()
            yield from (each for each in rows(prefix) if each.name.encode() > seen)
            return
        yield from page
        after = last


def every_variable(rows: Rows) -> Iterator[Variable]:
    """Every variable, checked.

    Raises:
        CorruptNodeError: a row is damaged.
    """
    for variable in every_row(rows):
        if not is_intact(variable):
            raise damaged(variable.name)
        yield variable
