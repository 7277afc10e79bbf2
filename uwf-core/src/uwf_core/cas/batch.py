"""The variables that a batch has written and the backend does not have yet.

Reads within the batch see them; each is still a compare-and-set against the state before the batch.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from uwf_core.api.store import Change, Variable

_change: Callable[[tuple[Any, ...]], Change] = partial(tuple.__new__, Change)
"""Twice as fast as the class, which also takes names."""


class Batch:
    """What a batch has written.

    Attributes:
        changes: what the backend is to write, by name.
    """

    def __init__(self) -> None:
        self.changes: dict[str, Change] = {}

    def write(self, name: str, new: Variable | None, expected: bytes | None) -> bool:
        """Create, move or delete (None) a variable; False if this batch has moved it elsewhere."""
        if name not in self.changes:
            self.changes[name] = _change((name, new, expected))
            return True
        before = self.changes[name]
        if (before.variable and before.variable.checksum) != expected:
            return False
        if new is None and before.expected is None:
            del self.changes[name]  # created and deleted here
        else:
            self.changes[name] = Change(name, new, before.expected)
        return True

    def touches(self, prefix: str) -> bool:
        """Whether it changes a name that begins with `prefix`."""
        return any(name.startswith(prefix) for name in self.changes)

    def rows(self, stored: Sequence[Variable], prefix: str, **choice: Any) -> list[Variable]:
        """The rows of `prefix` with the changes, chosen as `StoreBackend.variables` does."""
        found = {each.name: each for each in stored}
        for name, change in self.changes.items():
            if change.variable is not None and name.startswith(prefix):
                found[name] = change.variable
            else:
                found.pop(name, None)
        return chosen(found.values(), **choice)


def chosen(
    rows: Collection[Variable],
    *,
    tags: Mapping[str, Collection[str]] | None = None,
    after: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    descending: bool = False,
) -> list[Variable]:
    """The variables that `StoreBackend.variables` returns of these."""
    found = sorted(rows, key=lambda each: each.name.encode(), reverse=descending)
    if after is not None:
        bound = after.encode()
        found = [each for each in found if (each.name.encode() < bound) == descending]
        found = [each for each in found if each.name != after]
    wanted = (tags or {}).items()
    found = [each for each in found if all(each.tags.get(tag) in some for tag, some in wanted)]
    return found[offset : None if limit is None else offset + limit]
