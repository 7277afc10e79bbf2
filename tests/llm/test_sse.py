from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_llm.sse import SseParser

LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",)), max_size=20)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def events_of(pieces):
    parser = SseParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return [event.data for event in (*found, *parser.finish())]


def cut(data, places):
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=5),
    ENDS,
    st.lists(st.integers(0, 10_000), max_size=12),
)
@settings(max_examples=75, deadline=None)
def test_events_come_out_whole_wherever_the_network_cuts(events, end, places):
    text = "".join(
        "".join(f"data: {line}{end}" for line in lines) + f": comment{end}id: 7{end}{end}"
        for lines in events
    )
    assert events_of(cut(text.encode(), places)) == ["\n".join(lines) for lines in events]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
@settings(max_examples=75, deadline=None)
def test_any_bytes_give_the_same_events_however_they_are_cut(data, places):
    assert events_of(cut(data, places)) == events_of([data])


def test_single_bytes_with_every_kind_of_line_end():
    data = b"\xef\xbb\xbfdata: a\r\ndata:b\r\r\n\ndata\n\ndata: \xc3\xa4\n\n"
    assert events_of([bytes([byte]) for byte in data]) == ["a\nb", "", "ä"]


def test_the_last_event_needs_no_blank_line():
    assert events_of([b"data: [DONE]"]) == ["[DONE]"]


def test_a_megabyte_in_one_line_byte_by_byte_takes_no_quadratic_time():
    parser = SseParser()
    for _ in range(100_000):
        assert list(parser.feed(b"x" * 10)) == []
    assert [event.data for event in parser.feed(b"\ndata: y\n\n")] == ["y"]
