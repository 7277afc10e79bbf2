"""Which tasks are sealed: by a key, once and for all."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_improve.gate.sides import (
    SidesError,
    SourcedTask,
    assign,
    place_of,
    sealed_units,
    spend,
)

KEY = b"k" * 32
NAMES = st.lists(st.text(min_size=1, max_size=5), unique=True, max_size=40)
KEYS = st.binary(min_size=16, max_size=16)


def tasks_of(names) -> list[SourcedTask]:
    return [SourcedTask(id=name) for name in names]


@given(NAMES, KEYS, st.integers(12, 60))
def test_sealed_gets_half_of_the_tasks_and_never_fewer_than_the_bar_asks_for(names, key, wanted):
    places = assign({}, tasks_of(names), key, wanted)
    assert len(sealed_units(places)) == max(len(names) // 2, min(wanted, len(names)))


@given(NAMES, KEYS, st.randoms(use_true_random=False))
def test_the_order_of_the_tasks_changes_no_side(names, key, chance: random.Random):
    mixed = chance.sample(names, len(names))
    assert assign({}, tasks_of(names), key, 12) == assign({}, tasks_of(mixed), key, 12)


@given(NAMES, NAMES, KEYS, st.integers(12, 30))
def test_a_side_never_changes_whatever_tasks_come_or_go(first, then, key, wanted):
    before = assign({}, tasks_of(first), key, 12)
    after = assign(before, tasks_of(then), key, wanted)
    assert {mark: after[mark] for mark in before} == before
    sealed, new = len(sealed_units(before)), len({*then} - {*first})
    assert len(sealed_units(after)) >= min(max(wanted, sealed), sealed + new)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=40), KEYS)
def test_versions_of_one_source_and_copies_share_a_side_and_a_unit(pairs, key):
    tasks = [
        SourcedTask(id=f"{number}", source=f"s{source}", digest=f"d{digest}")
        for number, (source, digest) in enumerate(pairs)
    ]
    places = assign({}, tasks, key, 12)
    for one in tasks:
        for other in tasks:
            if one.source == other.source or one.digest == other.digest:
                assert place_of(places, one) == place_of(places, other)


def test_a_new_version_of_a_known_source_goes_where_the_source_is():
    names = [f"t{number}" for number in range(40)]
    places = assign({}, tasks_of(names), KEY, 12)
    versions = [SourcedTask(id=f"{name}-v2", source=name) for name in names]
    after = assign(places, versions, KEY, 40)
    for name, version in zip(names, versions, strict=True):
        assert place_of(after, version) == places[f"task:{name}"]
    assert sealed_units(after) == sealed_units(places)


def test_new_tasks_go_to_sealed_until_there_are_as_many_as_the_bar_asks_for():
    places = assign({}, tasks_of(f"t{number}" for number in range(30)), KEY, 12)
    assert len(sealed_units(places)) == 15
    places = assign(places, tasks_of(f"n{number}" for number in range(10)), KEY, 20)
    assert len(sealed_units(places)) >= 20
    for number in range(200):  # one at a time, each by its own hash
        places = assign(places, tasks_of([f"later-{number}"]), KEY, 20)
    assert 90 <= len(sealed_units(places)) <= 150


def test_without_the_key_nobody_knows_the_side_of_a_task():
    names = [f"t{number}" for number in range(100)]
    sealed = [
        sealed_units(assign({}, tasks_of(names), bytes([number] * 16), 12)) for number in range(40)
    ]
    for name in names[:10]:
        assert 8 <= sum(f"source:{name}" in each for each in sealed) <= 32


def test_a_task_that_joins_both_sides_is_an_error_and_a_spent_set_is_open():
    names = [f"t{number}" for number in range(40)]
    places = assign({}, tasks_of(names), KEY, 12)
    sealed = next(name for name in names if places[f"task:{name}"].side == "sealed")
    open_ = next(name for name in names if places[f"task:{name}"].side == "open")
    with pytest.raises(SidesError, match="a new id and source"):
        assign(places, [SourcedTask(id=sealed, source=open_)], KEY, 12)
    spent = spend(places)
    assert sealed_units(spent) == set()
    again = assign(spent, tasks_of([*names, "new"]), KEY, 12)
    assert sealed_units(again) == {"source:new"}


def test_a_short_key_is_rejected():
    with pytest.raises(ValueError, match="16 bytes"):
        assign({}, [], b"short", 12)
