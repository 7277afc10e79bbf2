"""Make one store equal to another: every node, every variable. The store root proves it.

The root is the SHA-256 over the lines `REF SP SHA256 LF`, sorted, and then the lines
`NAME SP VALUE SP TAGS LF`, sorted, where TAGS is JSON with sorted keys and without blanks.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from uwf_core.api.store import BatchBackend, Record, StoreBackend, Variable
from uwf_core.cas.records import verify_record
from uwf_core.cas.rows import every_variable
from uwf_core.errors import StoreError
from uwf_core.ids import ref_of_number

_PAGE = 500
_EVER = 1 << 62
"""Later than every time of a put."""


class Copied(NamedTuple):
    """What a copy has changed in the target, and what both stores have now.

    Attributes:
        nodes, variables: of the source. added: nodes that the target lacked.
        root: of both stores.
    """

    nodes: int
    variables: int
    added: int
    root: str


class StoreCopy:
    """A copy of `source`, whose reads are those of one state, to `target`.

    Nodes are stored first, the names last and together. After an error the target has none of the
    new names, and another copy completes it.
    """

    def __init__(self, source: StoreBackend, target: StoreBackend) -> None:
        self._source, self._target = source, target
        self._digests: dict[str, bytes] = {}
        self._added = 0

    def all(self) -> Copied:
        """Copy everything, and read the target again to prove it.

        Raises:
            CorruptNodeError: a node or name of the source is damaged.
            StoreError: the target differs after all: another process writes to it.
        """
        there = self._there()
        self._put(_checked(self._source.records(), self._digests), there)
        done = self._finish(there - self._digests.keys())
        if store_root(self._target) != done.root:
            raise self._differs()
        return done

    def changes(self) -> Copied:
        """Copy what has changed in the source since the last call. Raises as `all`."""
        now, there = _refs(self._source), self._there()
        for ref in self._digests.keys() - now:
            del self._digests[ref]
        found = (self._source.get(ref) for ref in sorted(now - self._digests.keys()))
        self._put(_checked(filter(None, found), self._digests), there)
        done = self._finish(there - now)
        if self._there() != now:
            raise self._differs()
        return done

    def _there(self) -> set[str]:
        return _refs(self._target)

    def _put(self, records: Iterator[Record], there: set[str]) -> None:
        target = self._target
        while page := list(islice(records, _PAGE)):
            new = [each for each in page if each.ref not in there]
            if new:
                with target.transaction(durable=False):
                    if isinstance(target, BatchBackend):
                        target.put_all(new)
                    else:
                        for each in new:
                            target.put(each)
            self._added += len(new)

    def _finish(self, left: set[str]) -> Copied:
        """Write the variables, and delete the nodes that an interrupted copy has left."""
        variables = list(every_variable(self._source.variables))
        with self._target.transaction():
            _write(self._target, variables)
            self._target.delete(left, _EVER)
        root = _root(self._digests, variables)
        return Copied(len(self._digests), len(variables), self._added, root)

    def _differs(self) -> StoreError:
        return StoreError(
            "the copy differs from the source",
            where=self._target.location(),
            hint="stop what writes to it, and repeat the copy to an empty store",
        )


def store_root(store: StoreBackend) -> str:
    """The root of a store: equal roots, equal stores.

    Raises:
        CorruptNodeError: a node or name is damaged.
    """
    digests = dict[str, bytes]()
    for _ in _checked(store.records(), digests):
        pass
    return _root(digests, every_variable(store.variables))


def _refs(store: StoreBackend) -> set[str]:
    return {ref_of_number(number) for number, *_ in store.graph()}


def _checked(records: Iterable[Record], digests: dict[str, bytes]) -> Iterator[Record]:
    """The records, each verified; its reference and SHA-256 are added to `digests`."""
    for each in records:
        verify_record(each, each.ref)
        digests[each.ref] = each.sha256
        yield each


def _root(digests: Mapping[str, bytes], variables: Iterable[Variable]) -> str:
    found = hashlib.sha256()
    for ref in sorted(digests):
        found.update(f"{ref} {digests[ref].hex()}\n".encode())
    for variable in variables:
        tags = json.dumps(
            dict(variable.tags), ensure_ascii=False, separators=(",", ":"), sort_keys=True
        )
        found.update(f"{variable.name} {variable.value} {tags}\n".encode())
    return found.hexdigest()


def _write(target: StoreBackend, variables: Sequence[Variable]) -> None:
    """Make the variables of the target equal. Within a transaction."""
    before = {each.name: each for each in every_variable(target.variables)}
    for each in variables:
        there = before.pop(each.name, None)
        if there != each:
            target.set_variable(each, there.checksum if there else None)
    for there in before.values():
        target.delete_variable(there.name, there.checksum)
