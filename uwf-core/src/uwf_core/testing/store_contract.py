"""What every storage backend promises, as tests: subclass `StoreContract` and name your record.

```python
from uwf_core.testing.store_contract import StoreContract

class TestFiles(StoreContract):
    spec = StoreSpec(name="files", summary="…", factory="uwf_store_files.backend:open_files")
    url = "files:nodes"
```

What a backend does not declare among `spec.capabilities` is not asked of it.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar

import pytest

from uwf_core.api.store import Holder, Record, StoreBackend, StoreSpec, Variable
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of, sha256_of, variable_checksum
from uwf_core.ids import number_of

TEXT = PRIMITIVES["string"]


def number(ref: str) -> int:
    """A reference as a number."""
    found = number_of(ref)
    assert found is not None
    return found


def record(text: str, *, links: tuple[str, ...] = (), at_ms: int = 1000) -> Record:
    """A node of the primitive type `string`, with `links` as if its payload referred to them."""
    data = encode(text)
    edges = tuple(sorted({number(each) for each in (TEXT, *links)}))
    return Record(ref_of(TEXT, data), TEXT, sha256_of(TEXT, data), data, edges, at_ms, at_ms)


def variable(name: str, value: str = META, at_ms: int = 1000, **tags: str) -> Variable:
    """A variable with the checksum that the core would give it."""
    checksum = variable_checksum(name, value, tags, at_ms, at_ms)
    return Variable(name, value, tags, at_ms, at_ms, checksum)


def holder(since_ms: int = 7) -> Holder:
    """This process, as the holder of a lock."""
    return Holder(os.getpid(), "start", "host", since_ms)


def opened(spec: StoreSpec, url: str, home: str) -> StoreBackend:
    """The backend, made by its factory."""
    module, _, attribute = spec.factory.partition(":")
    backend: StoreBackend = getattr(import_module(module), attribute)(url, home)
    return backend


def _hold(spec: StoreSpec, url: str, home: str, name: str, pipe: Connection) -> None:
    """In a process of its own: take the lock, say so, and wait to be killed."""
    backend = opened(spec, url, home)
    pipe.send(backend.lock(name, holder()) is not None)
    signal.pause()


class StoreContract:
    """The promises of `StoreBackend`. A test may only be overridden to be marked `xfail`."""

    spec: ClassVar[StoreSpec]
    """The record of the backend under test."""

    url: ClassVar[str]
    """The URL to open; each test gives another home folder."""

    @pytest.fixture
    def another(self, tmp_path: Path) -> Iterator[Callable[[], StoreBackend]]:
        """Opens the store of this test once more."""
        made: list[StoreBackend] = []

        def open_it() -> StoreBackend:
            made.append(opened(self.spec, self.url, str(tmp_path)))
            return made[-1]

        yield open_it
        for backend in made:
            backend.close()

    @pytest.fixture
    def backend(self, another: Callable[[], StoreBackend]) -> StoreBackend:
        """The store of this test."""
        return another()

    def needs(self, capability: str) -> None:
        """Skip what the backend does not declare."""
        if capability not in self.spec.capabilities:
            pytest.skip(f"{self.spec.name} does not declare {capability!r}")

    # -- nodes -----------------------------------------------------------------------------------

    def test_it_is_a_backend(self, backend: StoreBackend) -> None:
        """Every method of the contract is there."""
        assert isinstance(backend, StoreBackend)
        assert backend.location()

    def test_a_record_comes_back_in_every_column(self, backend: StoreBackend) -> None:
        """Also one with edges, with an empty list of them, and with a long payload."""
        first = record("one")
        for each in (first, record("two", links=(first.ref, META)), record("x" * 100_000)):
            assert backend.put(each) is None
            assert backend.get(each.ref) == each
        bare = record("three")._replace(edges=())
        backend.put(bare)
        assert backend.get(bare.ref) == bare

    def test_what_was_never_put_is_not_there(self, backend: StoreBackend) -> None:
        """In a store with nodes and in an empty one; text that is no reference is nowhere."""
        for _ in range(2):
            assert backend.get("0" * 13) is None
            assert backend.get("ZZZZZZZZZZZZZ") is None
            assert backend.get("no reference") is None
            assert backend.present(["0" * 13, "no reference"]) == set()
            backend.put(record("one"))

    def test_put_again_only_touches(self, backend: StoreBackend) -> None:
        """The first put's time stays; the record from before comes back."""
        first, later = record("one", at_ms=1000), record("one", at_ms=5000)
        backend.put(first)
        assert backend.put(later) == first
        assert backend.get(first.ref) == first._replace(touched_ms=5000)
        assert backend.put(later) == first._replace(touched_ms=5000)

    def test_put_never_overwrites_another_payload(self, backend: StoreBackend) -> None:
        """The core finds the collision; the backend must keep what it had."""
        first = record("one")
        backend.put(first)
        backend.put(first._replace(data=b"\x63two", sha256=b"2" * 32))
        kept = backend.get(first.ref)
        assert kept is not None
        assert (kept.data, kept.sha256) == (first.data, first.sha256)

    def test_present_names_those_that_are_there(self, backend: StoreBackend) -> None:
        """Also among many at once."""
        stored = {each.ref for each in map(record, map(str, range(30))) if not backend.put(each)}
        missing = {record(f"missing {number}").ref for number in range(2000)}
        assert backend.present(stored | missing) == stored
        assert backend.present([]) == set()

    def test_find_gives_the_references_that_begin_so(self, backend: StoreBackend) -> None:
        """Sorted, no more than asked for."""
        refs = sorted(
            each.ref for each in map(record, map(str, range(80))) if not backend.put(each)
        )
        for prefix in ("", refs[0][:1], refs[40][:2], refs[70], "ZZZZ", "not one"):
            found = [ref for ref in refs if ref.startswith(prefix)]
            assert backend.find(prefix, 1000) == found
            assert backend.find(prefix, 2) == found[:2]

    def test_records_come_all_or_of_one_type(self, backend: StoreBackend) -> None:
        """Small ones and large ones."""
        stored = [record(str(count) * (count * count)) for count in range(40)]
        stored += [record("x" * 100_000), record("schema")._replace(type=META, edges=())]
        for each in stored:
            backend.put(each)
        assert sorted(backend.records()) == sorted(stored)
        assert list(backend.records(META)) == stored[-1:]

    def test_the_graph_of_all_records(self, backend: StoreBackend) -> None:
        """As numbers, with the time of the last put."""
        first = record("one")
        second = record("two", links=(first.ref,), at_ms=2000)
        for each in (first, second, first._replace(touched_ms=3000)):
            backend.put(each)
        found = {ref: (set(edges), at_ms) for ref, edges, at_ms in backend.graph()}
        assert found == {
            number(each.ref): (set(each.edges), at_ms)
            for each, at_ms in ((first, 3000), (second, 2000))
        }

    def test_delete_spares_what_was_touched_since(self, backend: StoreBackend) -> None:
        """And says how many are gone."""
        old, kept = record("old", at_ms=1000), record("kept", at_ms=1000)
        for each in (old, kept, kept._replace(touched_ms=2000)):
            backend.put(each)
        assert backend.delete([old.ref, kept.ref, record("never").ref], 2000) == 1
        assert backend.present([old.ref, kept.ref]) == {kept.ref}

    # -- transactions ----------------------------------------------------------------------------

    @pytest.mark.parametrize("durable", [True, False])
    def test_all_of_a_transaction_or_nothing(self, backend: StoreBackend, durable: bool) -> None:
        """An error within leaves nodes, touches, variables and deletions as they were."""
        before, moving = record("before"), variable("@uwf/a", status="idle")
        backend.put(before)
        backend.set_variable(moving, None)
        with pytest.raises(ZeroDivisionError), backend.transaction(durable):
            backend.put(record("within"))
            backend.put(before._replace(touched_ms=9000))
            backend.set_variable(variable("@uwf/a", at_ms=2000), moving.checksum)
            backend.set_variable(variable("@uwf/b"), None)
            backend.delete([before.ref], 99_000)
            assert backend.get(before.ref) is None
            raise ZeroDivisionError
        assert list(backend.records()) == [before]
        assert backend.variables("@uwf/") == [moving]
        with backend.transaction(durable):
            backend.put(record("after"))
        assert backend.get(record("after").ref) == record("after")

    def test_transactions_do_not_nest(self, backend: StoreBackend) -> None:
        """One within another is a fault of the caller, and the outer one fails with it."""
        with pytest.raises(RuntimeError), backend.transaction():
            backend.put(record("within"))
            with backend.transaction():
                pass
        assert backend.get(record("within").ref) is None

    def test_others_see_a_transaction_only_when_it_is_over(
        self, another: Callable[[], StoreBackend]
    ) -> None:
        """Reading is possible all the while."""
        self.needs("shared")
        mine, others = another(), another()
        mine.put(record("before"))
        for durable in (True, False):
            new = record(f"within {durable}")
            with mine.transaction(durable):
                mine.put(new)
                assert mine.get(new.ref) == new
                assert others.get(new.ref) is None
                assert others.get(record("before").ref) == record("before")
            assert others.get(new.ref) == new

    def test_what_was_stored_is_there_after_opening_again(
        self, another: Callable[[], StoreBackend]
    ) -> None:
        """Nodes and variables alike, whether somebody waited for the disk or not."""
        self.needs("persistent")
        first = another()
        first.put(record("durable"))
        with first.transaction(durable=False):
            first.put(record("quick"))
            first.set_variable(variable("@uwf/a", role="ä \U0001f680"), None)
        first.close()
        first.close()
        again = another()
        assert {each.ref for each in again.records()} == {
            record("durable").ref,
            record("quick").ref,
        }
        assert again.variable("@uwf/a") == variable("@uwf/a", role="ä \U0001f680")

    # -- variables -------------------------------------------------------------------------------

    def test_a_variable_moves_only_from_where_it_is(self, backend: StoreBackend) -> None:
        """Compare-and-set: made once, moved from what it is, never from what it was."""
        first, second = variable("@uwf/a", status="idle"), variable("@uwf/a", at_ms=2000)
        assert backend.variable("@uwf/a") is None
        assert not backend.set_variable(second, first.checksum)
        assert backend.set_variable(first, None)
        assert not backend.set_variable(second, None)
        assert not backend.set_variable(second, second.checksum)
        assert backend.variable("@uwf/a") == first
        assert backend.set_variable(second, first.checksum)
        assert backend.variable("@uwf/a") == second

    def test_a_variable_goes_only_from_where_it_is(self, backend: StoreBackend) -> None:
        """Compare-and-delete; afterwards the name is free."""
        first = variable("@uwf/a", status="idle")
        assert not backend.delete_variable("@uwf/a", first.checksum)
        backend.set_variable(first, None)
        assert not backend.delete_variable("@uwf/a", b"another checksum")
        assert backend.delete_variable("@uwf/a", first.checksum)
        assert backend.variable("@uwf/a") is None
        assert backend.set_variable(first, None)

    def test_variables_by_prefix_tags_and_window(self, backend: StoreBackend) -> None:
        """Sorted by name, bytewise; `after` first, then `offset`, then `limit`."""
        states = ("idle", "done", "failed")
        all_of_them = [
            variable(f"@uwf/thread/{number:02}", status=states[number % 3], role=f"r{number % 2}")
            for number in range(12)
        ]
        extra = [variable("@uwf/other"), variable("@uwf/thread"), variable("@uwf/thread/-")]
        for each in (*reversed(all_of_them), *extra):
            assert backend.set_variable(each, None)

        def names(**choice: Any) -> list[str]:
            return [each.name[-2:] for each in backend.variables("@uwf/thread/", **choice)]

        assert names() == ["/-", *(f"{number:02}" for number in range(12))]
        assert names(descending=True, limit=2) == ["11", "10"]
        assert names(tags={"status": ["idle"]}) == ["00", "03", "06", "09"]
        assert names(tags={"status": ["idle", "done"], "role": ["r0"]}) == ["00", "04", "06", "10"]
        assert names(tags={"status": ["idle", "done"]}, descending=True, offset=1, limit=2) == [
            "09",
            "07",
        ]
        assert names(after="@uwf/thread/09") == ["10", "11"]
        assert names(after="@uwf/thread/02", descending=True) == ["01", "00", "/-"]
        assert names(after="@uwf/thread/02", offset=3, limit=1) == ["06"]
        assert names(tags={"status": []}) == names(tags={"role": ["none"]}) == names(limit=0) == []
        assert len(backend.variables("")) == 15

    def test_tags_are_any_text(self, backend: StoreBackend) -> None:
        """Also text that looks like JSON or SQL."""
        tags = {'"': "'; --", "é": "{}", "status": 'a","b', "": "\n\t\\", "x": "\U0001f680"}
        each = Variable("@uwf/a", META, tags, 1, 2, b"checksum")
        backend.set_variable(each, None)
        assert backend.variable("@uwf/a") == each
        assert backend.variables("@uwf/", tags={'"': ["'; --"], "status": ['a","b']}) == [each]

    # -- locks -----------------------------------------------------------------------------------

    def test_a_lock_is_held_by_one(self, backend: StoreBackend) -> None:
        """Others get None, other names are free, and once released it can be had again."""
        handle = backend.lock("@uwf/a", holder(1))
        assert handle is not None
        assert backend.lock("@uwf/a", holder(2)) is None
        other = backend.lock("@uwf/b", holder(3))
        assert other is not None
        assert backend.held() == {"@uwf/a": holder(1), "@uwf/b": holder(3)}
        handle.release()
        handle.release()
        assert backend.held() == {"@uwf/b": holder(3)}
        again = backend.lock("@uwf/a", holder(4))
        assert again is not None
        handle.release()
        assert backend.holder("@uwf/a") == holder(4)

    def test_asking_for_the_holder_never_takes_the_lock(self, backend: StoreBackend) -> None:
        """Nor does it make anything."""
        assert backend.holder("@uwf/a") is None
        assert backend.held() == {}
        assert backend.lock("@uwf/a", holder()) is not None
        assert backend.holder("@uwf/a") == holder()

    def test_a_lock_is_seen_and_respected_by_others(
        self, another: Callable[[], StoreBackend]
    ) -> None:
        """Between two openings; closing one frees what it held."""
        self.needs("shared")
        mine, others = another(), another()
        handles = [mine.lock(f"@uwf/{number}", holder(number)) for number in range(30)]
        assert others.lock("@uwf/7", holder()) is None
        assert others.holder("@uwf/7") == holder(7)
        assert others.held() == mine.held() == {f"@uwf/{n}": holder(n) for n in range(30)}
        assert handles[7] is not None
        handles[7].release()
        assert others.lock("@uwf/7", holder(8)) is not None
        assert mine.holder("@uwf/7") == holder(8)
        mine.close()
        assert others.held() == {"@uwf/7": holder(8)}

    def test_a_killed_process_holds_nothing(
        self, another: Callable[[], StoreBackend], tmp_path: Path
    ) -> None:
        """The system frees its lock at once, whatever it wrote about itself."""
        self.needs("shared")
        backend = another()
        backend.put(record("one"))
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        child = context.Process(
            target=_hold, args=(self.spec, self.url, str(tmp_path), "@uwf/a", theirs)
        )
        child.start()
        try:
            assert ours.poll(30)
            assert ours.recv()
            assert backend.lock("@uwf/a", holder()) is None
            seen = backend.holder("@uwf/a")
            assert seen is not None
            assert seen.pid == child.pid
        finally:
            child.kill()
            child.join()
        assert backend.holder("@uwf/a") is None
        assert backend.held() == {}
        assert backend.lock("@uwf/a", holder()) is not None
