"""Payloads as bytes."""

import math
from enum import IntEnum

import pytest
from cas_strategies import payloads, same, stored_form
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.cas.codec import MAX_DEPTH, SAFE_INTEGER, decode, encode
from uwf_core.errors import CorruptNodeError, PayloadError
from uwf_core.ids import Ref


@given(payloads)
@settings(max_examples=100)
def test_what_is_stored_reads_back_the_same(payload):
    assert same(decode(encode(payload)), stored_form(payload))


@given(payloads)
@settings(max_examples=50)
def test_equal_payloads_have_equal_bytes_whatever_the_order_of_their_keys(payload):
    def reversed_keys(value):
        if isinstance(value, dict):
            return {key: reversed_keys(value[key]) for key in reversed(value)}
        return [reversed_keys(each) for each in value] if isinstance(value, list) else value

    assert encode(reversed_keys(payload)) == encode(payload)


@given(st.binary(max_size=40))
@settings(max_examples=200)
def test_there_is_one_way_only_to_write_a_payload(data):
    """Bytes are either exactly those that `encode` writes, or damage."""
    try:
        payload = decode(data)
    except CorruptNodeError:
        return
    assert encode(payload) == data


@given(payloads, st.data())
@settings(max_examples=80)
def test_no_cut_and_no_flipped_bit_reads_as_the_same_payload(payload, data):
    good = encode(payload)
    bit = data.draw(st.integers(0, 8 * len(good) - 1))
    flipped = bytearray(good)
    flipped[bit // 8] ^= 1 << bit % 8
    for bad in (bytes(flipped), good[:-1], good + b"\0"):
        try:
            assert not same(decode(bad), stored_form(payload))
        except CorruptNodeError:
            continue


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        (b"\x18\x17", b"\x17"),
        (b"\x19\x00\xff", b"\x18\xff"),
        (b"\x1a\x00\x00\xff\xff", b"\x19\xff\xff"),
        (b"\x1b\x00\x00\x00\x00\xff\xff\xff\xff", b"\x1a\xff\xff\xff\xff"),
        (b"\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00", b"\x01"),
        (b"\xfb\x80\x00\x00\x00\x00\x00\x00\x00", b"\x00"),
        (b"\xa2\x61b\x01\x61a\x02", b"\xa2\x61a\x02\x61b\x01"),
        (b"\xa2\x61a\x01\x61a\x02", None),
        (b"\xf9\x3c\x00", None),
        (b"\x9f\x01\xff", None),
        (b"\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00", None),
        (b"\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00", None),
        (b"\x1b\x00\x20\x00\x00\x00\x00\x00\x00", None),
        (b"\x3b\x00\x1f\xff\xff\xff\xff\xff\xff", None),
        (b"\xa1\x01\x02", None),
        (b"\xf7", None),
        (b"\x41a", None),
        (b"\x61\xff", None),
        (b"\x81" * (MAX_DEPTH + 1) + b"\x80", None),
        (b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", None),
        (b"", None),
    ],
)
def test_another_spelling_of_a_payload_is_refused(written, canonical):
    with pytest.raises(CorruptNodeError):
        decode(written)
    if canonical is not None:
        assert encode(decode(canonical)) == canonical


class Colour(IntEnum):
    RED = 3


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


class Undecided:
    """As an array of several numbers, it is neither true nor false."""

    def __bool__(self):
        raise ValueError("ambiguous")


@pytest.mark.parametrize(
    ("payload", "where"),
    [
        (math.nan, None),
        ({"a": [1, math.inf]}, "a.1"),
        ({"a": {"b": -math.inf}}, "a.b"),
        ([2**53], "0"),
        ({"n": -(2**53)}, "n"),
        ({"n": 10**400}, "n"),
        ({"a": {1: 2}}, "a.1"),
        ({"a": {None: 2}}, "a.None"),
        ({"a": {True: 2}}, "a.True"),
        ({"a": {b"k": 2}}, "a.b'k'"),
        ({"a": [b"bytes"]}, "a.0"),
        ({"a": {1, 2}}, "a"),
        ({"a": object()}, "a"),
        ({"a": Undecided()}, "a"),
        ({"a": 1j}, "a"),
        (nested(MAX_DEPTH + 1), ".".join("0" * MAX_DEPTH)),
        ({"x": dict.fromkeys(("\ud800", "\udfff"))}, r"x.\udfff"),
        (dict.fromkeys(("\ufffd", "\ud800")), r"\ud800"),
    ],
)
def test_what_json_cannot_say_is_refused_by_the_name_of_its_place(payload, where):
    with pytest.raises(PayloadError) as refused:
        encode(payload)
    assert refused.value.where == where
    assert refused.value.hint


def test_the_deepest_payload_that_is_allowed_reads_back():
    assert decode(encode(nested(MAX_DEPTH))) == nested(MAX_DEPTH)


def test_a_payload_that_contains_itself_is_refused_and_does_not_crash():
    loop = []
    loop.append(loop)
    with pytest.raises(PayloadError, match="deep"):
        encode(loop)


@pytest.mark.parametrize(
    ("payload", "plain"),
    [
        (1.0, 1),
        (-0.0, 0),
        (float(SAFE_INTEGER), SAFE_INTEGER),
        (float(-SAFE_INTEGER), -SAFE_INTEGER),
        ((1, (2,)), [1, [2]]),
        (Colour.RED, 3),
        (Ref("CTS5P6RD8HMCS"), "CTS5P6RD8HMCS"),
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
        ("\ud83d\ude80", "\U0001f680"),
        ("\udc00\ud83d", "\ufffd\ufffd"),
        ({"k\ud800": 1}, {"k\ufffd": 1}),
    ],
)
def test_what_json_says_in_another_way_becomes_plain(payload, plain):
    assert encode(payload) == encode(plain)
    assert same(decode(encode(payload)), plain)


def test_true_is_not_one_and_text_is_not_normalised():
    assert encode(True) != encode(1)
    assert encode(False) != encode(0)
    assert encode("e\u0301") != encode("\u00e9")
