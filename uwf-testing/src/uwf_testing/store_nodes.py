"""The clauses about nodes and transactions."""

import pytest

from uwf_core.api.store import AheadBackend, BatchBackend, Content, StoreBackend
from uwf_core.cas.hashing import META
from uwf_testing.contract import needs
from uwf_testing.store_fixtures import Another, StoreFixtures
from uwf_testing.store_records import number, record, variable


class NodeClauses(StoreFixtures):
    """A backend stores records unchanged."""

    def test_it_is_a_backend(self, backend: StoreBackend) -> None:
        """The backend has every method of the contract."""
        assert isinstance(backend, StoreBackend)
        assert backend.location()

    def test_a_record_comes_back_in_every_column(self, backend: StoreBackend) -> None:
        """A record comes back unchanged: with edges, without, and with a long payload."""
        first = record("one")
        for each in (first, record("two", links=(first.ref, META)), record("x" * 100_000)):
            assert backend.put(each) is None
            assert backend.get(each.ref) == each
        bare = record("three")._replace(edges=())
        backend.put(bare)
        assert backend.get(bare.ref) == bare

    def test_what_was_never_put_is_not_there(self, backend: StoreBackend) -> None:
        """An unknown reference and an invalid one are not found, in an empty store and in a filled
        one.
        """
        for _ in range(2):
            assert backend.get("0" * 13) is None
            assert backend.get("ZZZZZZZZZZZZZ") is None
            assert backend.get("no reference") is None
            assert backend.present(["0" * 13, "no reference"]) == set()
            backend.put(record("one"))

    def test_put_again_only_touches(self, backend: StoreBackend) -> None:
        """A second put keeps the time of the first and returns the record from before."""
        first, later = record("one", at_ms=1000), record("one", at_ms=5000)
        backend.put(first)
        assert backend.put(later) == first
        assert backend.get(first.ref) == first._replace(touched_ms=5000)
        assert backend.put(later) == first._replace(touched_ms=5000)

    def test_put_never_overwrites_another_payload(self, backend: StoreBackend) -> None:
        """On a collision of references the backend keeps the first record; the core reports the
        collision.
        """
        first = record("one")
        backend.put(first)
        backend.put(first._replace(data=b"\x63two", sha256=b"2" * 32))
        kept = backend.get(first.ref)
        assert kept is not None
        assert (kept.data, kept.sha256) == (first.data, first.sha256)

    def test_many_at_once_are_put_as_one_by_one(self, backend: StoreBackend) -> None:
        """The optional `put_all` inserts new records, touches known ones and overwrites none."""
        if not isinstance(backend, BatchBackend):
            pytest.skip("the backend has no put_all, which is optional")
        known, other = record("known", at_ms=1000), record("other", at_ms=1000)
        backend.put(known)
        backend.put(other)
        again = known._replace(created_ms=5000, touched_ms=5000)
        forged = other._replace(data=b"\x63two", sha256=b"2" * 32, touched_ms=5000)
        new = [record(str(number), at_ms=5000) for number in range(40)]
        before = {known.ref: known, other.ref: other}
        assert backend.put_all([*new, again, forged]) == before
        assert backend.get(known.ref) == known._replace(touched_ms=5000)
        kept = backend.get(other.ref)
        assert kept is not None
        assert kept.data == other.data
        assert backend.present([each.ref for each in new]) == {each.ref for each in new}
        assert backend.put_all([]) == {}

    def test_many_contents_at_once(self, backend: StoreBackend) -> None:
        """The optional `contents` returns what is stored of the named records, `contents_before` a
        record with others of its type, and neither anything else.
        """
        if not isinstance(backend, AheadBackend):
            pytest.skip("the backend has no contents and contents_before, which are optional")
        stored = [record(str(count)) for count in range(40)]
        for each in (*stored, record("schema")._replace(type=META, edges=())):
            backend.put(each)
        contents = [Content(each.ref, each.type, each.sha256, each.data) for each in stored]
        refs = [each.ref for each in stored]
        assert sorted(backend.contents([*refs, "0" * 13])) == sorted(contents)
        before = list(backend.contents_before(refs[30], 8))
        assert set(before) <= set(contents)
        assert contents[30] in before
        assert len(before) <= 8
        assert list(backend.contents([])) == list(backend.contents_before("0" * 13, 8)) == []

    def test_present_names_those_that_are_there(self, backend: StoreBackend) -> None:
        """`present` returns exactly the stored ones of many references."""
        stored = {each.ref for each in map(record, map(str, range(30))) if not backend.put(each)}
        missing = {record(f"missing {number}").ref for number in range(2000)}
        assert backend.present(stored | missing) == stored
        assert backend.present([]) == set()

    def test_find_gives_the_references_that_begin_so(self, backend: StoreBackend) -> None:
        """`find` returns matching references, sorted and up to the limit."""
        refs = sorted(
            each.ref for each in map(record, map(str, range(80))) if not backend.put(each)
        )
        for prefix in ("", refs[0][:1], refs[40][:2], refs[70], "ZZZZ", "not one"):
            found = [ref for ref in refs if ref.startswith(prefix)]
            assert backend.find(prefix, 1000) == found
            assert backend.find(prefix, 2) == found[:2]

    def test_records_come_all_or_of_one_type(self, backend: StoreBackend) -> None:
        """`records` returns small and large records, of all types or of one."""
        stored = [record(str(count) * (count * count)) for count in range(40)]
        stored += [record("x" * 100_000), record("schema")._replace(type=META, edges=())]
        for each in stored:
            backend.put(each)
        assert sorted(backend.records()) == sorted(stored)
        assert list(backend.records(META)) == stored[-1:]

    def test_the_graph_of_all_records(self, backend: StoreBackend) -> None:
        """`graph` returns references and edges as numbers, with the time of the last put."""
        first = record("one")
        second = record("two", links=(first.ref,), at_ms=2000)
        for each in (first, second, first._replace(touched_ms=3000)):
            backend.put(each)
        found = {ref: (set(edges), at_ms) for ref, edges, at_ms in backend.graph()}
        assert found == {
            number(each.ref): (set(each.edges), at_ms)
            for each, at_ms in ((first, 3000), (second, 2000))
        }

    def test_what_was_deleted_is_nowhere(self, backend: StoreBackend) -> None:
        """No method finds a deleted record, and it can be put again as a new one."""
        kept, gone = record("kept"), record("gone")
        backend.put(kept)
        backend.put(gone)
        assert backend.delete([gone.ref], 99_000) == 1
        assert backend.get(gone.ref) is None
        assert backend.present([kept.ref, gone.ref]) == {kept.ref}
        assert backend.find("", 10) == [kept.ref]
        assert list(backend.records()) == list(backend.records(kept.type)) == [kept]
        assert [ref for ref, *_ in backend.graph()] == [number(kept.ref)]
        again = gone._replace(created_ms=9000, touched_ms=9000)
        assert backend.put(again) is None
        assert backend.get(gone.ref) == again

    def test_delete_spares_what_was_touched_since(self, backend: StoreBackend) -> None:
        """`delete` spares records touched since, and returns the number of deleted ones."""
        old, kept = record("old", at_ms=1000), record("kept", at_ms=1000)
        for each in (old, kept, kept._replace(touched_ms=2000)):
            backend.put(each)
        assert backend.delete([old.ref, kept.ref, record("never").ref], 2000) == 1
        assert backend.present([old.ref, kept.ref]) == {kept.ref}


class TransactionClauses(StoreFixtures):
    """A backend commits all of a transaction or nothing."""

    @pytest.mark.parametrize("durable", [True, False])
    def test_all_of_a_transaction_or_nothing(self, backend: StoreBackend, durable: bool) -> None:
        """An error rolls back nodes, touches, variables and deletions."""
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
        """A nested transaction is an error of the caller, and the outer one fails with it."""
        with pytest.raises(RuntimeError), backend.transaction():
            backend.put(record("within"))
            with backend.transaction():
                pass
        assert backend.get(record("within").ref) is None

    @needs(capability="shared")
    def test_others_see_a_transaction_only_when_it_is_over(self, another: Another) -> None:
        """Other openings can read during a transaction, and see its writes only after it."""
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

    @needs(capability="persistent")
    def test_what_was_stored_is_there_after_opening_again(self, another: Another) -> None:
        """Nodes and variables survive closing, durable or not."""
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
