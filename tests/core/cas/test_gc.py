"""Collection frees what nothing leads to, and never anything else."""

import pytest
from cas_strategies import refs_below

from uwf_core.cas.gc import SCHEMA_GRACE_MS, Rules, collect
from uwf_core.cas.store import Store
from uwf_core.errors import CorruptNodeError

REF = {"type": "string", "format": "ocas_ref"}
LINKED = {
    "type": "object",
    "properties": {"to": {"type": "array", "items": REF}, "n": {"type": "integer"}},
    "required": ["to"],
}
RULES = Rules(
    ("threads", "other"),
    lambda name: "threads" if name.startswith("@t/") else "other",
    lambda name: name.removeprefix("@ask/") if name.startswith("@ask/") else None,
)
DAY_MS = 86_400_000


@pytest.fixture
def link(store):
    type_ = store.put_schema(LINKED, trusted=True)
    return lambda *refs, n=0: store.put(type_, {"to": list(refs), "n": n})


def gc(store, clock, grace_ms=0, *, dry_run=False):
    return collect(store, RULES, clock.ms - grace_ms, clock.ms, dry_run=dry_run)


def all_refs(store):
    return {ref for ref, *_ in store.edges()}


def test_only_what_a_variable_leads_to_stays(store, clock, link):
    kept = link(link(store.put_text("deep")), store.put_text("kept"))
    gone = link(link(store.put_text("gone")), store.put_text("kept"))
    store.set_variable("@t/one", kept, {}, None)
    clock.ms += DAY_MS
    before = all_refs(store)
    would = gc(store, clock, dry_run=True)
    assert all_refs(store) == before
    found = gc(store, clock)
    assert all_refs(store) == set(refs_below(store, [kept]))
    assert not store.has(gone)
    assert (found.nodes, found.freed) == (len(before), len(before) - len(all_refs(store)))
    assert would == found
    assert [each._asdict() for each in found.kept] == [
        {"reason": "threads", "variables": 1, "nodes": len(all_refs(store))}
    ]


def test_what_is_young_stays_with_all_that_it_leads_to(store, clock, link):
    old = store.put_text("old")
    clock.ms += 2 * DAY_MS
    young = link(old)
    clock.ms += DAY_MS // 2
    found = gc(store, clock, DAY_MS)
    assert store.present([young, old]) == {young, old}
    assert found.freed == 0
    assert found.kept[-1].reason == "young"
    clock.ms += DAY_MS
    assert gc(store, clock, DAY_MS).freed == found.nodes


def test_a_type_that_somebody_may_still_know_stays_for_an_hour(store, clock):
    text = store.put_text("gone")
    clock.ms += 1000
    gc(store, clock)
    assert not store.has(text)
    assert {type_ for _, (type_, *_), _ in store.edges()} == {"CTS5P6RD8HMCS"}
    clock.ms += SCHEMA_GRACE_MS + 1
    gc(store, clock)
    assert all_refs(store) == set()
    assert store.text(store.put_text("again")) == "again"


def test_a_writer_that_meets_an_old_node_keeps_it_and_all_below(store, backend, clock, link):
    """The node is put again between marking and sweeping."""
    deep = store.put_text("deep")
    met = link(deep)
    store.put_text("gone")
    clock.ms += DAY_MS
    other = Store(backend, clock)
    type_ = other.put_schema(LINKED, trusted=True)

    def put_again():
        assert other.put(type_, {"to": [deep], "n": 0}) == met

    interfere(store, put_again)
    found = gc(store, clock)
    assert store.present([met, deep]) == {met, deep}
    assert found.kept[-1].reason == "in use meanwhile"
    assert len(all_refs(store)) == found.nodes - found.freed


def test_a_variable_that_comes_while_marking_keeps_what_it_leads_to(store, backend, clock, link):
    """As a fork of a removed thread's step would: it puts nothing."""
    forked = link(link(store.put_text("deep")))
    clock.ms += DAY_MS
    other = Store(backend, clock)
    interfere(store, lambda: other.set_variable("@t/late", forked, {}, None))
    gc(store, clock)
    assert set(refs_below(store, [forked])) == all_refs(store)


def test_a_variable_that_comes_with_new_nodes_keeps_the_old_ones_below(store, backend, clock, link):
    old = link(store.put_text("old"))
    clock.ms += DAY_MS
    other = Store(backend, clock)
    type_ = other.put_schema(LINKED, trusted=True)

    def write():
        new = other.put(type_, {"to": [old], "n": 1})
        other.set_variable("@t/late", new, {}, None)

    interfere(store, write)
    gc(store, clock)
    value = store.variable("@t/late").value
    assert store.get(value).payload["n"] == 1
    assert store.has(old)
    assert set(refs_below(store, [value])) == all_refs(store)


def interfere(store, write):
    """Let `write` happen after the marking and before the sweep."""
    backend, transaction = store._backend, store._backend.transaction
    done = []

    def later(durable=True):
        if not done:
            done.append(True)
            write()
        return transaction(durable)

    backend.transaction = later


def test_a_variable_with_an_anchor_stays_as_long_as_somebody_else_has_that(store, clock, link):
    step, session = link(n=1), link(n=2)
    store.set_variable("@t/one", step, {}, None)
    store.set_variable(f"@ask/{step}", session, {}, None)
    clock.ms += DAY_MS
    assert gc(store, clock).dropped == ()
    assert store.has(session)
    store.delete_variable(store.variable("@t/one"))
    assert gc(store, clock, DAY_MS + 1).dropped == ()  # young: somebody may be asking
    assert gc(store, clock, dry_run=True).dropped == (f"@ask/{step}",)
    assert store.variable(f"@ask/{step}")
    found = gc(store, clock)
    assert found.dropped == (f"@ask/{step}",)
    assert store.variable(f"@ask/{step}") is None
    assert not store.present([step, session])


def test_a_damaged_store_is_left_as_it_is(store, backend, clock, link):
    missing = store.put_text("missing")
    head = link(link(missing))
    store.set_variable("@t/one", head, {}, None)
    store.put_text("garbage")
    clock.ms += DAY_MS
    backend.delete([missing], clock.ms)
    before = all_refs(store)
    with pytest.raises(CorruptNodeError, match=missing):
        gc(store, clock)
    assert all_refs(store) == before


def test_a_damaged_variable_stops_the_collection(store, backend, clock):
    text = store.put_text("text")
    store.set_variable("@t/one", text, {"a": "b"}, None)
    clock.ms += DAY_MS
    variable = backend.variable("@t/one")
    backend.set_variable(variable._replace(tags={"a": "c"}), variable.checksum)
    with pytest.raises(CorruptNodeError, match="@t/one"):
        gc(store, clock)
    assert store.has(text)


def test_garbage_that_leads_nowhere_is_no_damage(store, backend, clock, link):
    missing = store.put_text("missing")
    link(missing)
    backend.delete([missing], clock.ms + 1)
    clock.ms += DAY_MS
    gc(store, clock)
    assert all_refs(store) == set()


def test_an_empty_store_has_nothing_to_free(store, clock):
    assert gc(store, clock) == (0, (), 0, ())
