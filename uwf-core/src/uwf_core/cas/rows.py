"""All variables of a store, page by page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from uwf_core.api.store import Variable
from uwf_core.cas.variables import damaged, is_intact

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

_PAGE = 500


def every_row(store: "Store", prefix: str = "") -> Iterator[Variable]:
    """Every variable whose name begins with `prefix`, sorted by name, **unchecked**."""
    after: str | None = None
    while page := store.rows(prefix, after=after, limit=_PAGE):
        last = page[-1].name
        if after is not None and last.encode() <= after.encode():
            # A damaged name sorts elsewhere than its row lies: paging by names would go in circles.
            seen = after.encode()
            yield from (each for each in store.rows(prefix) if each.name.encode() > seen)
            return
        yield from page
        after = last


def every_variable(store: "Store") -> Iterator[Variable]:
    """Every variable, checked.

    Raises:
        CorruptNodeError: a row is damaged.
    """
    for variable in every_row(store):
        if not is_intact(variable):
            raise damaged(variable.name)
        yield variable
