"""The clauses about variables and locks."""

from typing import Any

import pytest

from uwf_core.api.store import StoreBackend, TextBackend, Variable, WantedVariables
from uwf_core.cas.hashing import META, variable_text
from uwf_testing.contract import needs
from uwf_testing.store_fixtures import Another, StoreFixtures
from uwf_testing.store_records import holder, variable


class VariableClauses(StoreFixtures):
    """A variable moves from where it is, and is found by its name and tags."""

    def test_a_variable_moves_only_from_where_it_is(self, backend: StoreBackend) -> None:
        """Compare-and-set creates a variable once and then moves it only from its current value."""
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
        """Compare-and-delete deletes only the current value; afterwards the name is free."""
        first = variable("@uwf/a", status="idle")
        assert not backend.delete_variable("@uwf/a", first.checksum)
        backend.set_variable(first, None)
        assert not backend.delete_variable("@uwf/a", b"another checksum")
        assert backend.delete_variable("@uwf/a", first.checksum)
        assert backend.variable("@uwf/a") is None
        assert backend.set_variable(first, None)

    def test_variables_by_prefix_tags_and_window(self, backend: StoreBackend) -> None:
        """Variables are sorted by the bytes of their names; `after` applies first, then `offset`,
        then `limit`.
        """
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
        assert names(after="@uwf/other") == names(after="@uwf/z", descending=True)[::-1] == names()
        assert names(tags={"status": []}) == names(tags={"role": ["none"]}) == names(limit=0) == []
        assert len(backend.variables("")) == 15

    def test_tags_are_any_text(self, backend: StoreBackend) -> None:
        """Tags can hold any text, also text that looks like JSON or SQL."""
        tags = {'"': "'; --", "é": "{}", "status": 'a","b', "": "\n\t\\", "x": "\U0001f680"}
        each = Variable("@uwf/a", META, tags, 1, 2, b"checksum")
        backend.set_variable(each, None)
        assert backend.variable("@uwf/a") == each
        assert backend.variables("@uwf/", tags={'"': ["'; --"], "status": ['a","b']}) == [each]

    def test_names_may_be_long(self, backend: StoreBackend) -> None:
        """Names of variables and locks have no limit; two that differ only at the end differ."""
        names = [f"@uwf/{'long' * 200}/{number}" for number in range(2)]
        for name in names:
            assert backend.set_variable(variable(name), None)
            assert backend.lock(name, holder()) is not None
            assert backend.holder(name) == holder()
        assert [each.name for each in backend.variables("@uwf/long")] == names
        assert sorted(backend.held()) == names

    def test_variables_as_texts(self, backend: StoreBackend) -> None:
        """The optional `variable_texts` returns what each checksum covers, in the requested
        window.
        """
        if not isinstance(backend, TextBackend):
            pytest.skip("the backend has no variable_texts, which is optional")
        each = [variable(f"@uwf/t/{number}", at_ms=number, b="\n", a="é") for number in range(6)]
        each.append(variable("@uwf/t/bare"))
        for one in (*each, variable("@uwf/u")):
            backend.set_variable(one, None)
        texts = [(variable_text(*one[:-1]).encode(), one.checksum) for one in each]
        assert backend.variable_texts("@uwf/t/") == texts
        assert backend.variable_texts("@uwf/t/", after="@uwf/t/3", limit=2) == texts[4:6]
        assert backend.variable_texts("@uwf/t/", after="@uwf/t/3", descending=True) == texts[2::-1]
        assert backend.variable_texts("@uwf/none/") == []

    def test_variables_that_may_be_left_out(self, backend: StoreBackend) -> None:
        """With `one_of`, `variable_texts` returns at least those that match it, in order, and
        with a limit so many that nobody stops too early.
        """
        if not isinstance(backend, TextBackend):
            pytest.skip("the backend has no variable_texts, which is optional")
        rows = [
            variable("@uwf/t/0", status="idle"),
            variable("@uwf/t/1", status="suspended"),
            variable("@uwf/t/2", attempt="", status="idle"),
            variable("@uwf/t/3", status="idle", workflow="attempt"),
            variable("@uwf/t/4", b="2", status="idle"),
            variable("@uwf/t/5"),
        ]
        for one in rows:
            backend.set_variable(one, None)

        def found(one_of: WantedVariables, **window: Any) -> list[str]:
            texts = backend.variable_texts("@uwf/t/", one_of=one_of, **window)
            return [text.decode().split("\0")[0][-1] for text, _ in texts]

        wanted = WantedVariables(
            ["@uwf/t/5"], {"status": ["suspended"], "attempt": None, "b": ["2", "3"]}
        )
        names = found(wanted)
        assert names == sorted(names)
        assert {*names} >= {"1", "2", "4", "5"}
        assert found(wanted, descending=True) == names[::-1]
        assert (
            found(wanted, after="@uwf/t/1", limit=2) == [each for each in names if each > "1"][:2]
        )
        assert {*found(WantedVariables(["@uwf/t/0"]))} >= {"0"}


class LockClauses(StoreFixtures):
    """A lock has one holder."""

    def test_a_lock_is_held_by_one(self, backend: StoreBackend) -> None:
        """While a lock is held, others get None; other names are free; a released lock can be
        acquired.
        """
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
        """`holder` neither acquires the lock nor creates anything."""
        assert backend.holder("@uwf/a") is None
        assert backend.held() == {}
        assert backend.lock("@uwf/a", holder()) is not None
        assert backend.holder("@uwf/a") == holder()

    @needs(capability="shared")
    def test_a_lock_is_seen_and_respected_by_others(self, another: Another) -> None:
        """Another opening sees the lock and cannot acquire it; closing releases it."""
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
