"""The wrong stores in memory."""

# ruff: noqa: N801 (a class is called as its entry point is)

import contextlib
import threading
from itertools import chain

from kit_stores.dicts import DictBackend, DictLock
from uwf_core.api.store import Committed, Content, Holder
from uwf_core.cas.hashing import variable_text
from uwf_core.errors import StoreError
from uwf_core.ids import number_of


class Memory(DictBackend):
    def __init__(self, url, home):
        super().__init__()


class misannounced(Memory):
    """Its plugin announces another record than the one that was tried."""


class nowhere(Memory):
    def location(self):
        return ""


class cuts_payloads(Memory):
    def get(self, ref):
        record = super().get(ref)
        return record and record._replace(data=record.data[:65536])


class trips_over_other_words(Memory):
    def get(self, ref):
        if len(ref) != 13:
            raise StoreError(f"{ref!r} is no reference")
        return super().get(ref)


class forgets_the_first_put(Memory):
    def put(self, record):
        before = super().put(record)
        if before is not None and before.data == record.data:
            self._write_record(record.ref, record._replace(created_ms=record.touched_ms))
        return before


class overwrites(Memory):
    def put(self, record):
        before = super().put(record)
        if before is not None and before.data != record.data:
            self._write_record(record.ref, record)
        return before


class overwrites_many(Memory):
    def put_all(self, records):
        before = {ref: self._records[ref] for ref, *_ in records if ref in self._records}
        for record in records:
            self._write_record(record.ref, record)
        return before


class reads_all_ahead(Memory):
    """It gives every node where some are asked for."""

    def contents(self, refs):
        return [Content(e.ref, e.type, e.sha256, e.data) for e in self._records.values()]

    def contents_before(self, ref, limit):
        return self.contents([ref])


class asks_for_few(Memory):
    def present(self, refs):
        return super().present(list(refs)[-1:] if len(refs) > 999 else refs)


class finds_all(Memory):
    def find(self, prefix, limit):
        return super().find(prefix, 10_000)


class mixes_types(Memory):
    def records(self, *arguments, **more):
        return super().records()


class graphs_the_first_put(Memory):
    def graph(self):
        created = sorted(each.created_ms for each in self._records.values())
        return ((ref, edges, created[0]) for ref, edges, _ in super().graph())


class deletes_what_was_touched(Memory):
    def delete(self, refs, untouched_since_ms):
        return super().delete(refs, untouched_since_ms + 1)


class rolls_back_half(Memory):
    def _write_variable(self, name, variable):
        undo, self._undo = self._undo, None
        super()._write_variable(name, variable)
        self._undo = undo


class nests(Memory):
    def transaction(self, durable=True):
        return super().transaction(durable) if self._undo is None else contextlib.nullcontext()


class makes_twice(Memory):
    def set_variable(self, variable, expected):
        if expected is None:
            before = self.variable(variable.name)
            expected = before.checksum if before else None
        return super().set_variable(variable, expected)


class deletes_anyway(Memory):
    def delete_variable(self, name, expected):
        before = self.variable(name)
        return before is not None and super().delete_variable(name, before.checksum)


class lists_from_the_start(Memory):
    def variables(self, prefix, *, after=None, **more):
        return super().variables(prefix, **more)


class drops_odd_tags(Memory):
    def set_variable(self, variable, expected):
        tags = {key: value for key, value in variable.tags.items() if key}
        return super().set_variable(variable._replace(tags=tags), expected)


class joins_tags_as_they_came(Memory):
    def variable_texts(self, prefix, one_of=None, **window):
        return [
            ("\0".join(map(str, chain(each[:2], each[3:5], *each.tags.items()))).encode(), each[-1])
            for each in self.variables(prefix, **window)
        ]


class forgets_names_that_are_asked_for(Memory):
    def variable_texts(self, prefix, one_of=None, **window):
        found = [
            (variable_text(*each[:-1]).encode(), each[-1])
            for each in self.variables(prefix, **window)
        ]
        tags = one_of.tags if one_of else {}
        marks = [f"\0{key}\0{value}".encode() for key in tags for value in tags[key] or [""]]
        return [each for each in found if not one_of or any(mark in each[0] for mark in marks)]


class _Careless(DictLock):
    def release(self):
        self._held.pop(self._name, None)


class releases_for_others(Memory):
    def lock(self, name, holder):
        handle = super().lock(name, holder)
        return handle and _Careless(self._held, name, holder)


class locks_by_looking(Memory):
    def holder(self, name):
        return self._held.setdefault(name, Holder(1, "somebody", "somewhere", 0))


class _KeepsTheDeleted(Memory):
    """What was deleted is still where a method looks for it."""

    def __init__(self, url, home):
        super().__init__(url, home)
        self.gone = {}

    def delete(self, refs, untouched_since_ms):
        wanted = [self._records[ref] for ref in refs if ref in self._records]
        count = super().delete([each.ref for each in wanted], untouched_since_ms)
        if self._undo is None:  # otherwise it may yet be rolled back
            self.gone.update({each.ref: each for each in wanted if each.ref not in self._records})
        return count

    def left(self):
        return [each for ref, each in self.gone.items() if ref not in self._records]


class graphs_what_was_deleted(_KeepsTheDeleted):
    def graph(self):
        yield from super().graph()
        yield from ((number_of(each.ref), each.edges, each.touched_ms) for each in self.left())


class records_what_was_deleted(_KeepsTheDeleted):
    def records(self, type=None):
        yield from super().records(type)
        yield from self.left()


class remembers_the_first_put_of_all(_KeepsTheDeleted):
    def put(self, record):
        first = self.gone.get(record.ref, record)
        return super().put(record._replace(created_ms=first.created_ms))


class cuts_long_names(Memory):
    def variable(self, name):
        return super().variable(name[:255])

    def set_variable(self, variable, expected):
        return super().set_variable(variable._replace(name=variable.name[:255]), expected)


class refuses_long_names_of_locks(Memory):
    def lock(self, name, holder):
        if len(name) > 255:
            raise StoreError("the name of the lock is too long")
        return super().lock(name, holder)


class belongs_to_one_thread(Memory):
    def __init__(self, url, home):
        super().__init__(url, home)
        self.thread = threading.get_ident()

    def get(self, ref):
        if threading.get_ident() != self.thread:
            raise StoreError("the store was opened in another thread")
        return super().get(ref)


class drops_the_edges(Memory):
    def get(self, ref):
        record = super().get(ref)
        return record and record._replace(edges=record.edges[:1])


class counts_what_it_was_asked_to_delete(Memory):
    def delete(self, refs, untouched_since_ms):
        wanted = list(refs)
        super().delete(wanted, untouched_since_ms)
        return len(wanted)


class commits_in_spite_of_an_error(Memory):
    @contextlib.contextmanager
    def transaction(self, durable=True):
        with super().transaction(durable):
            try:
                yield
            except ZeroDivisionError:
                self._undo.clear()
                raise


class skips_after_it_has_limited(Memory):
    def variables(self, prefix, *, limit=None, offset=0, **more):
        return super().variables(prefix, limit=limit, **more)[offset:]


class forgets_when_nodes_were_first_put(Memory):
    def commit(self, commit):
        done = super().commit(commit)
        return Committed() if done.existing else done


class commits_what_it_can(Memory):
    def commit(self, commit):
        done = super().commit(commit)
        if done.moved:
            self.put_all(commit.records)
        return done


class hides_another_payload(Memory):
    def commit(self, commit):
        done = super().commit(commit)
        return Committed() if done.differing else done


class commits_without_its_locks(Memory):
    def commit(self, commit):
        return super().commit(commit._replace(leases=()))


class rejects_an_empty_commit(Memory):
    def commit(self, commit):
        if not (commit.records or commit.changes):
            raise StoreError("there is nothing to write")
        return super().commit(commit)
