"""The store's graph in flat arrays says what sets would say, and quick decoding what slow does."""

from itertools import pairwise
from time import process_time

import pytest
from cas_strategies import payloads, same
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.cas.codec import decode, encode, is_text
from uwf_core.cas.graph import NOWHERE, Graph
from uwf_core.cas.references import finder, references_in
from uwf_core.cas.types import MappingDecoder
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref, number_of, ref_of_number
from uwf_core.stores.rows import refs_of

NUMBERS = st.integers(-(2**63), 2**63 - 1)
ALIKE = st.integers(-20, 20).map(lambda number: number << 40)
EDGES = st.lists(st.integers(0, 30), max_size=5)


@given(NUMBERS)
def test_a_reference_and_its_number_stand_for_each_other(number):
    assert number_of(ref_of_number(number)) == number


@given(st.lists(NUMBERS, max_size=20))
def test_many_numbers_at_once_give_the_references_that_each_gives(numbers):
    assert refs_of(numbers) == list(map(ref_of_number, numbers))


@given(st.one_of(st.text(max_size=14), st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", max_size=14)))
def test_what_is_no_reference_of_64_bits_has_no_number(text):
    fits = Ref.matches(text) and text[0] <= "F"
    assert (number_of(text) is not None) == fits


@given(nodes=st.dictionaries(NUMBERS | ALIKE, EDGES, max_size=30), data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_graph_is_what_its_edges_say(nodes, data):
    """Some edges point to what is not there."""
    names = [*nodes, *data.draw(st.lists(NUMBERS, max_size=3))]
    edges = {ref: {names[each % len(names)] for each in found} for ref, found in nodes.items()}
    graph = Graph()
    graph.extend((ref, tuple(found), 0) for ref, found in edges.items())
    at = {ref: graph.position(ref_of_number(ref)) for ref in nodes}
    assert sorted(at.values()) == list(range(len(nodes)))
    missing = {each for found in edges.values() for each in found} - nodes.keys()
    dangling = graph.dangling()
    assert {number_of(ref) for ref in dangling} == missing
    for ref, holders in dangling.items():
        assert {graph.ref(each) for each in holders} == {
            ref_of_number(each) for each in nodes if number_of(ref) in edges[each]
        }
    roots = data.draw(st.lists(st.sampled_from(sorted(nodes)), max_size=3)) if nodes else []
    live = reached(edges, roots)
    marks = bytearray(len(graph))
    count, lost = graph.mark([at[root] for root in roots], marks, 7)
    assert {ref for ref in nodes if marks[at[ref]] == 7} == live & nodes.keys()
    assert count == len(live & nodes.keys())
    assert {number_of(ref) for ref in lost} == live - nodes.keys()
    wanted = {at[root] for root in roots}
    within = graph.leading_to(wanted)
    for ref in nodes:
        below = {at[each] for each in reached(edges, [ref]) & nodes.keys()}
        assert bool(within[at[ref]]) == bool(below & wanted)
        if within[at[ref]]:
            assert graph.reached(at[ref], within, wanted) == below & wanted
    assert graph.position(ref_of_number(next(iter(missing), 5))) == (
        NOWHERE if missing or 5 not in nodes else at[5]
    )


@pytest.mark.parametrize("bits", [0, 20, 40, 48])
def test_references_that_were_made_alike_take_no_longer(bits):
    """A bundle may hold what somebody has made for that; by trying one after the other, 20,000
    nodes would take half a minute.
    """
    refs = [number << bits for number in range(-10_000, 10_000)]
    graph = Graph()
    started = process_time()
    graph.extend((ref, (before,), 0) for before, ref in pairwise([7 << bits, *refs]))
    assert graph.dangling() == {}
    count, missing = graph.mark([len(refs) - 1], bytearray(len(refs)), 1)
    assert (count, missing) == (len(refs), set())
    assert process_time() - started < 10


def reached(edges, roots):
    seen, waiting = set(roots), list(roots)
    while waiting:
        for each in edges.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def read(call, data):
    try:
        return call(data)
    except CorruptNodeError:
        return CorruptNodeError


@given(payload=payloads, keys=st.lists(st.text(max_size=3), max_size=4), data=st.data())
@settings(max_examples=150, deadline=None)
def test_the_quick_decoder_says_what_the_slow_one_says(payload, keys, data):
    """Of mappings with those keys, with others, and of bytes that are damaged."""
    if isinstance(payload, dict) and data.draw(st.booleans()):
        keys = list(payload)
    decoder = MappingDecoder(set(keys))
    whole = encode(payload)
    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    for each in (whole, whole[:at], whole + b"\0", flipped):
        quick, slow = read(decoder.decode, each), read(decode, each)
        assert (quick is CorruptNodeError) == (slow is CorruptNodeError)
        assert quick is CorruptNodeError or same(quick, slow)
        assert is_text(each) == isinstance(slow, str)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_the_quick_decoder_reads_mappings_of_one_kind_one_after_the_other(data):
    """Values change, also within inner mappings, and inner mappings change their keys."""
    few = st.sampled_from([None, 0, 24, -1, 0.5, "", "x" * 30, [], [1], {}, {"d": []}])
    inner = st.fixed_dictionaries({"a": few, "": few}) | st.dictionaries(st.text(max_size=1), few)
    mappings = st.fixed_dictionaries({"a": few, "": inner, "c": inner | few})
    decoder = MappingDecoder({"a", "", "c"})
    for payload in data.draw(st.lists(mappings, min_size=4, max_size=9)):
        whole = encode(payload)
        at = data.draw(st.integers(0, len(whole) - 1))
        flipped = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
        for each in (flipped, whole, whole[:at], whole):
            quick, slow = read(decoder.decode, each), read(decode, each)
            assert quick is slow is CorruptNodeError or same(quick, slow)
            empty(quick)


def empty(value):
    """Change everything in a value that can be changed."""
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            empty(each)
        value.clear()


def test_a_change_of_what_was_decoded_changes_nothing_that_is_decoded_later():
    payload = {"list": ["x"], "map": {"a": 1}, "deep": {"b": []}}
    decoder, data = MappingDecoder(payload), encode(payload)
    for _ in range(3):
        found = decoder.decode(data)
        assert found == payload
        found["list"].append("y")
        found["map"]["a"] = 2
        found["deep"]["b"].append("z")


@pytest.mark.parametrize("size", [0, 1, 23, 24, 255, 256, 65535, 65536])
def test_a_text_has_one_head_for_its_length(size):
    """Whatever byte it begins with, and with a longer head than it needs."""
    rests = [
        encode("x" * size)[1:],
        *(size.to_bytes(width, "big") + b"x" * size for width in (4, 8)),
    ]
    for each in (bytes([first]) + rest for first in range(256) for rest in rests):
        assert is_text(each) == isinstance(read(decode, each), str)


REF = {"type": "string", "format": "ocas_ref"}
REFS = st.sampled_from(["0" * 13, "F" * 13, "short", "", "Z" * 13])


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": REF, "b": {"anyOf": [REF, {"type": "null"}]}}},
        {"properties": {"a": {"oneOf": [REF, {"type": "array", "items": REF}]}}},
        {"properties": {"a": {"type": "array", "items": REF}}},
        {"additionalProperties": REF},
        {"anyOf": [{"properties": {"a": REF}}, {"properties": {"b": REF}}]},
        {"properties": {"a": {"properties": {"b": REF}}}},
        {"properties": {}},
        REF,
    ],
)
@given(
    payload=st.recursive(
        REFS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner),
    )
)
@settings(max_examples=40, deadline=None)
def test_the_quick_finder_finds_what_the_slow_one_finds(schema, payload):
    found = {each for each in finder(schema)(payload) if Ref.matches(each)}
    assert found == references_in(schema, payload)
