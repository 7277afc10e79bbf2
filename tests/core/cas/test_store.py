"""The promises of the Store, whatever lies beneath it."""

import subprocess
import sys
import threading

import pytest
from cas_strategies import payloads, refs_below, same, stored_form
from collisions import colliding_texts
from hypothesis import HealthCheck, given, settings
from tests.testing.kit.strangers.kit_stores.dicts import DictBackend

from uwf_core.api.store import Holder
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of
from uwf_core.cas.schemas import META_SCHEMA
from uwf_core.cas.store import Store
from uwf_core.errors import (
    BusyError,
    CollisionError,
    CorruptNodeError,
    MissingNodeError,
    PayloadError,
)

REF = {"type": "string", "format": "ocas_ref"}
LINKED = {
    "title": "linked",
    "type": "object",
    "properties": {"next": {"anyOf": [REF, {"type": "null"}]}, "n": {"type": "integer"}},
    "required": ["next"],
}
HOLDER = Holder(1, "start", "host", 2)


# -- nodes -----------------------------------------------------------------------------------------


@given(payload=payloads)
@settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_a_payload_comes_back_as_it_was_put(store, payload):
    anything = store.put_schema({})
    ref = store.put(anything, payload)
    node = store.get(ref)
    assert (node.ref, node.type) == (ref, anything)
    assert same(node.payload, stored_form(payload))


def test_a_node_keeps_the_time_of_its_first_put_and_the_store_that_of_its_last(store, clock):
    first_ms = clock.ms
    ref = store.put_text("hello")
    clock.ms += 5000
    assert store.put_text("hello") == ref
    assert store.get(ref).created_at_ms == first_ms
    assert store.record(ref).touched_ms == clock.ms
    assert {touched for each, _, touched in store.edges() if each == ref} == {clock.ms}


def test_the_same_payload_has_the_same_reference_in_every_form(store):
    assert store.put_text("hello") == store.put(PRIMITIVES["string"], "hello") == "95ST8MZ0QTKP9"
    assert store.put(META, {"type": "string"}) == PRIMITIVES["string"]
    assert store.put_schema(META_SCHEMA) == store.put(META, dict(META_SCHEMA)) == META


def test_every_node_lies_in_the_store_together_with_its_type(store):
    ref = store.put_text("hello")
    assert store.present([ref, PRIMITIVES["string"], META]) == {ref, PRIMITIVES["string"], META}
    assert list(refs_below(store, [ref])) == [ref, PRIMITIVES["string"], META]


def test_a_type_that_was_swept_away_comes_back_with_the_next_node(store, backend, clock):
    linked = store.put_schema(LINKED, trusted=True)
    clock.ms += 60 * 60 * 1000
    backend.delete([linked, META], clock.ms)
    ref = store.put(linked, {"next": None})
    assert store.has(linked)
    assert store.has(META)
    assert store.get(ref).payload == {"next": None}


def test_a_type_in_use_is_too_young_to_be_swept(store, clock):
    linked = store.put_schema(LINKED, trusted=True)
    clock.ms += 24 * 60 * 60 * 1000
    store.put(linked, {"next": None})
    assert store.record(linked).touched_ms == clock.ms


@pytest.mark.parametrize(
    ("payload", "where"),
    [({"next": 5}, "next"), ({"next": None, "n": "x"}, "n"), ({}, None), ([], None), (None, None)],
)
def test_a_payload_that_its_schema_refuses_is_not_stored(store, payload, where):
    linked = store.put_schema(LINKED)
    before = list(store.edges())
    with pytest.raises(PayloadError, match="linked") as refused:
        store.put(linked, payload)
    assert refused.value.where == where
    assert list(store.edges()) == before


@pytest.mark.parametrize("payload", [float("nan"), {"a": 2**60}, {1: 2}, b"bytes"])
def test_what_json_cannot_say_is_not_stored(store, payload):
    anything = store.put_schema({})
    before = list(store.edges())
    with pytest.raises(PayloadError):
        store.put(anything, payload)
    assert list(store.edges()) == before


def test_a_schema_that_cannot_be_a_type_is_refused_with_all_its_faults(store):
    with pytest.raises(PayloadError) as refused:
        store.put_schema({"type": "strin", "properties": {"a": {"$ref": "#"}, "b": True}})
    for place in ("type", "properties.a.$ref", "properties.b"):
        assert f"{place}:" in refused.value.message
    assert "replace it by the schema" in refused.value.hint
    assert list(store.edges()) == []


def test_a_node_needs_a_type_that_is_there_and_is_one(store):
    with pytest.raises(MissingNodeError, match="0000000000000"):
        store.put("0" * 13, "x")
    text = store.put_text("no schema")
    with pytest.raises(PayloadError, match="is not a type"):
        store.put(text, "x")


def test_text_is_text_and_nothing_else(store):
    assert store.text(store.put_text("a\ud800")) == "a\ufffd"
    with pytest.raises(PayloadError, match="not text"):
        store.text(store.put(PRIMITIVES["integer"], 5))


def test_a_node_that_is_not_there_is_missing(store):
    with pytest.raises(MissingNodeError):
        store.get("0" * 13)
    assert not store.has("0" * 13)
    assert not store.has("nothing of the kind")


def test_references_are_found_by_a_prefix_in_any_case(store):
    ref = store.put_text("hello")
    assert store.find(ref[:4].lower(), 10) == [ref]
    assert store.find(ref, 10) == [ref]
    assert len(store.find("", 2)) == 2


def test_refs_are_those_in_the_payload(store):
    linked = store.put_schema(LINKED)
    end = store.put(linked, {"next": None})
    assert store.refs(end) == []
    assert store.refs(store.put(linked, {"next": end})) == [end]
    assert store.refs(store.put(linked, {"next": linked})) == [linked]


# -- damage and collisions -------------------------------------------------------------------------


def test_two_payloads_of_one_reference_are_never_taken_for_each_other(store):
    """They are really made here: one says approved, the other rejected."""
    approved, rejected = colliding_texts(PRIMITIVES["string"], b"approved", b"rejected")
    string = PRIMITIVES["string"]
    assert ref_of(string, encode(approved)) == ref_of(string, encode(rejected))
    assert "approved" in approved
    assert "rejected" in rejected
    ref = store.put_text(approved)
    with pytest.raises(CollisionError, match=ref) as refused:
        store.put_text(rejected)
    assert refused.value.message.count("SHA-256") == 1
    assert store.text(ref) == approved


@pytest.mark.parametrize("swap", ["payload", "type", "digest", "reference", "node"])
def test_a_record_that_is_not_what_its_reference_says_is_never_returned(
    store, backend, clock, swap
):
    approved, rejected = colliding_texts(PRIMITIVES["string"], b"approved", b"rejected")
    ref, other = store.put_text(approved), store.put_text("other")
    record = store.record(ref)
    backend._records[ref] = {
        "payload": record._replace(data=encode(rejected)),
        "type": record._replace(type=PRIMITIVES["object"]),
        "digest": record._replace(sha256=bytes(32)),
        "reference": store.record(other),
        "node": store.record(other)._replace(ref=ref),
    }[swap]
    later = Store(backend, clock)  # another process: this one knows what it has put
    for read in (
        later.get,
        later.text,
        later.record,
        later.refs,
        lambda r: list(refs_below(later, [r])),
    ):
        with pytest.raises(CorruptNodeError, match=ref):
            read(ref)
    with pytest.raises(CorruptNodeError, match=ref):
        later.put_text(approved)


def test_a_walk_stops_at_a_reference_that_points_to_nothing(store):
    linked = store.put_schema(LINKED)
    with pytest.raises(MissingNodeError, match="0000000000000"):
        list(refs_below(store, [store.put(linked, {"next": "0" * 13})]))


def test_a_walk_is_breadth_first_and_each_once(store):
    linked = store.put_schema(LINKED)
    first = store.put(linked, {"next": None})
    second = store.put(linked, {"next": first})
    third = store.put(linked, {"next": second})
    assert list(refs_below(store, [third, third])) == [third, linked, second, META, first]


# -- transactions ----------------------------------------------------------------------------------


def test_a_transaction_is_all_or_nothing(store):
    linked = store.put_schema(LINKED)
    end = store.put(linked, {"next": None})
    head = store.set_variable("@uwf/thread/A", end, {"status": "idle"}, None)
    before = sorted(store.edges())
    with pytest.raises(ZeroDivisionError), store.transaction():
        new = store.put(linked, {"next": end})
        store.put_schema({"title": "new"})
        store.set_variable("@uwf/thread/A", new, {}, head)
        assert store.variable("@uwf/thread/A").value == new
        raise ZeroDivisionError
    assert sorted(store.edges()) == before
    assert store.variable("@uwf/thread/A") == head


def test_what_a_failed_transaction_took_back_is_put_again_by_the_next(store):
    with pytest.raises(ZeroDivisionError), store.transaction():
        linked = store.put_schema(LINKED, trusted=True)
        store.put_text("x")
        raise ZeroDivisionError
    ref = store.put(linked, {"next": None})
    assert store.present([ref, linked, META]) == {ref, linked, META}
    text = store.put_text("x")
    assert store.present([text, PRIMITIVES["string"]]) == {text, PRIMITIVES["string"]}


def test_a_transaction_within_another_joins_it(store):
    with pytest.raises(ZeroDivisionError), store.transaction():
        with store.transaction():
            ref = store.put_text("inner")
        raise ZeroDivisionError
    assert not store.has(ref)
    with store.transaction(), store.transaction(durable=False):
        ref = store.put_text("inner")
    assert store.has(ref)


def test_a_promise_that_cannot_be_kept_is_not_made(store):
    with store.transaction(durable=False), pytest.raises(ValueError, match="durable"):
        store.transaction().__enter__()


def test_another_thread_waits_for_a_transaction_to_end(store):
    """Nothing of it gets into the transaction, and nothing gets lost."""
    seen = []

    def put_from_elsewhere():
        seen.append(store.put_text("from another thread"))

    thread = threading.Thread(target=put_from_elsewhere)
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.put_text("mine")
        thread.start()
        thread.join(0.05)
        assert seen == []
        raise ZeroDivisionError
    thread.join()
    assert store.text(seen[0]) == "from another thread"


# -- locks and start-up ----------------------------------------------------------------------------


def test_a_lock_that_is_held_names_its_holder(store):
    handle = store.lock("@uwf/thread/A", HOLDER)
    with pytest.raises(BusyError, match="process 1 on host"):
        store.lock("@uwf/thread/A", HOLDER)
    assert store.holder("@uwf/thread/A") == HOLDER
    assert store.held() == {"@uwf/thread/A": HOLDER}
    handle.release()
    assert store.holder("@uwf/thread/A") is None


SCRIPT = """
import sys
from uwf_core.cas.store import Store
from uwf_core.stores.open import open_backend
store = Store(open_backend("sqlite:store.db", sys.argv[1]), lambda: 1)
{work}
store.close()
print(" ".join(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""
READING = 'store.variables("@uwf/", limit=20); store.held(); store.has("0" * 13)'
STEPPING = """store.put(store.put_schema({"type": "object"}, trusted=True), {"a": 1})
store.set_variable("@uwf/a", store.put_text("x"), {}, None)"""


@pytest.mark.parametrize(
    ("work", "unwanted"),
    [
        (READING, {"jsonschema", "jsonschema_rs", "hashlib", "pathlib", "subprocess", "pydantic"}),
        (STEPPING, {"jsonschema", "pydantic", "asyncio", "importlib_metadata"}),
    ],
    ids=["reading", "a step"],
)
def test_a_command_pays_for_no_more_than_it_uses(work, unwanted, tmp_path):
    loaded = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(work=work), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert unwanted & set(loaded) == set()


def test_what_a_transaction_has_put_can_be_read_within_it(store):
    with store.transaction():
        ref = store.put_text("hello")
        assert store.text(ref) == "hello"
        assert store.has(ref)
        assert ref in {record.ref for record in store.records()}


def test_what_a_failed_transaction_has_put_is_not_believed_to_be_there(store, backend):
    with pytest.raises(RuntimeError), store.transaction():
        ref = store.put_text("hello")
        raise RuntimeError
    assert not store.has(ref)
    assert store.put_text("hello") == ref
    assert backend.get(ref) is not None


def test_the_nodes_of_a_transaction_go_to_the_backend_together(clock):
    calls = []

    class Counting(DictBackend):
        def put_all(self, records):
            calls.append(len(records))
            return {each.ref: before for each in records if (before := self.put(each))}

    store = Store(Counting(), clock)
    with store.transaction():
        for number in range(20):
            store.put_text(str(number))
    assert calls == [22]  # with the type of texts and the type of types


def test_a_backend_without_batches_gets_the_same_records(clock):
    backend = DictBackend()
    store = Store(backend, clock)
    with store.transaction():
        refs = [store.put_text(str(number)) for number in range(20)]
    assert backend.present(refs) == set(refs)


def test_what_was_put_under_a_lock_is_put_once_while_it_is_held(clock):
    """A collection spares what was put since a lock was taken; without one it may have freed it."""
    puts = []

    class Counting(DictBackend):
        def put(self, record):
            puts.append(record.ref)
            return super().put(record)

    store = Store(Counting(), clock)
    before = store.put_text("before")
    clock.ms += 1
    lock = store.lock("thread/x", Holder(1, "start", "host", clock.ms))
    (within,) = {store.put_text("within") for _ in range(3)}
    store.put_text("before")
    lock.release()
    store.put_text("within")
    assert (puts.count(before), puts.count(within)) == (2, 2)
