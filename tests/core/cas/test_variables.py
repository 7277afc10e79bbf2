"""Names that move: by compare-and-set, checked against damage."""

import pytest

from uwf_core.errors import BusyError, CorruptNodeError, MissingNodeError, PayloadError


def test_a_name_moves_only_from_where_it_was_seen(store, clock):
    one, two = store.put_text("one"), store.put_text("two")
    first = store.set_variable("@uwf/a", one, {"status": "idle"}, None)
    clock.ms += 10
    second = store.set_variable("@uwf/a", two, {"status": "done"}, first)
    assert store.variable("@uwf/a") == second
    assert (second.created_ms, second.updated_ms) == (first.created_ms, clock.ms)
    for stale in (None, first):
        with pytest.raises(BusyError):
            store.set_variable("@uwf/a", one, {}, stale)
    with pytest.raises(BusyError):
        store.delete_variable(first)
    assert store.variable("@uwf/a") == second
    store.delete_variable(second)
    assert store.variable("@uwf/a") is None
    with pytest.raises(BusyError):
        store.set_variable("@uwf/a", two, {}, second)


def test_moving_a_name_to_where_it_is_counts_as_a_move(store):
    """Otherwise two who do so in the same millisecond would both believe to have won."""
    one = store.put_text("one")
    first = store.set_variable("@uwf/a", one, {}, None)
    second = store.set_variable("@uwf/a", one, {}, first)
    assert second.checksum != first.checksum
    with pytest.raises(BusyError):
        store.set_variable("@uwf/a", one, {}, first)


def test_a_name_never_points_to_nothing(store):
    with pytest.raises(MissingNodeError):
        store.set_variable("@uwf/a", "0" * 13, {}, None)
    assert store.variable("@uwf/a") is None


@pytest.mark.parametrize(
    "name", ["", "uwf/a", "@uwf", "@uwf/", "@uwf//a", "@1/a", "@uwf/a b", "@uwf/ä", "@uwf/a\n"]
)
def test_what_is_no_name_of_a_variable_is_refused(store, name):
    with pytest.raises(PayloadError):
        store.set_variable(name, store.put_text("x"), {}, None)


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("not a reference", {}),
        ("95ST8MZ0QTKP9", {"a": 1}),
        ("95ST8MZ0QTKP9", {"a": "\0"}),
        ("95ST8MZ0QTKP9", {"\ud800": "a"}),
        ("95ST8MZ0QTKP9", {"a": None}),
    ],
)
def test_a_value_or_tag_without_the_form_of_one_is_refused(store, value, tags):
    store.put_text("hello")
    with pytest.raises(PayloadError):
        store.set_variable("@uwf/a", value, tags, None)


@pytest.mark.parametrize(
    "change",
    [
        {"value": "95ST8MZ0QTKP8"},
        {"tags": {"status": "done"}},
        {"tags": {"statut": "idle"}},
        {"tags": {}},
        {"tags": {"status": 5}},
        {"created_ms": 1},
        {"updated_ms": 1},
        {"checksum": bytes(16)},
    ],
)
def test_a_variable_that_is_not_what_its_checksum_says_is_never_returned(store, backend, change):
    ref = store.put_text("hello")
    store.set_variable("@uwf/t/A", ref, {"status": "idle"}, None)
    intact = store.set_variable("@uwf/t/B", ref, {"status": "idle"}, None)
    backend._variables["@uwf/t/A"] = backend._variables["@uwf/t/A"]._replace(**change)
    with pytest.raises(CorruptNodeError, match="@uwf/t/A"):
        store.variable("@uwf/t/A")
    with pytest.raises(CorruptNodeError, match="@uwf/t/A"):
        store.variables("@uwf/t/")
    assert store.variables_lenient("@uwf/t/") == ([intact], ["@uwf/t/A"])


def test_a_variable_under_another_name_is_never_returned(store, backend):
    ref = store.put_text("hello")
    store.set_variable("@uwf/t/A", ref, {}, None)
    backend._variables["@uwf/t/B"] = backend._variables["@uwf/t/A"]
    with pytest.raises(CorruptNodeError):
        store.variable("@uwf/t/B")
