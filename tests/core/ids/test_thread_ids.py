"""A thread's id is a ULID like any other: python-ulid is the judge of each."""

from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

from uwf_core.ids import B32, ThreadId, ThreadIds

TIMES = st.integers(0, 2**48 - 1)
RANDOM = st.binary(min_size=10, max_size=10)


@given(TIMES)
def test_a_new_id_is_a_ulid_of_its_time(now_ms: int) -> None:
    ours = ThreadId.new(now_ms)
    theirs = ULID.from_str(ours)
    assert str(theirs) == ours
    assert theirs.milliseconds == ours.created_ms == now_ms


@given(TIMES, RANDOM)
def test_any_ulid_is_a_thread_id_with_the_same_time(at_ms: int, random: bytes) -> None:
    theirs = ULID.from_bytes(at_ms.to_bytes(6, "big") + random)
    ours = ThreadId.parse(str(theirs))
    assert ours.created_ms == theirs.milliseconds == at_ms


@given(TIMES, TIMES)
def test_ids_sort_as_ulids_do(one_ms: int, other_ms: int) -> None:
    one, other = ThreadId.new(one_ms), ThreadId.new(other_ms)
    assert (one < other) == (ULID.from_str(one) < ULID.from_str(other))
    assert one_ms >= other_ms or one < other, "an older thread comes first"


@given(TIMES, RANDOM)
def test_the_first_id_of_a_moment_sorts_before_every_ulid_made_then(
    at_ms: int, random: bytes
) -> None:
    first = ThreadId.first_of(at_ms)
    theirs = ULID.from_bytes(at_ms.to_bytes(6, "big") + random)
    assert ULID.from_str(first) <= theirs
    assert ULID.from_str(first).milliseconds == at_ms


@given(TIMES, RANDOM, TIMES)
def test_an_id_after_another_sorts_behind_it(at_ms: int, random: bytes, now_ms: int) -> None:
    """Whatever the clock says, and whatever the random bits of the first one are."""
    before = str(ULID.from_bytes((at_ms - (at_ms > 0)).to_bytes(6, "big") + random))
    after = ThreadId.after(before, now_ms)
    assert before < after and ThreadId.matches(after)
    assert now_ms <= after.created_ms or at_ms >= now_ms
    same = ThreadId.after(before, ThreadId(before).created_ms)
    assert before < same


def test_threads_that_one_process_starts_sort_in_the_order_of_their_starts() -> None:
    """Also in one millisecond, where so many reach ids of the next one, and a clock that is set
    back gives them its own time.
    """
    ids = ThreadIds()
    made = [ids.new(7) for _ in range(10_000)]
    assert made == sorted(set(made))
    assert ids.new(6).created_ms == 6


@given(st.text(B32, min_size=26, max_size=26))
def test_26_letters_are_a_thread_id_where_they_are_a_ulid(text: str) -> None:
    try:
        theirs = ULID.from_str(text)
    except (ValueError, OverflowError):  # more than 128 bits
        assert not ThreadId.matches(text)
    else:
        assert ThreadId.matches(text)
        assert str(theirs) == text
