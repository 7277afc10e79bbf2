import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_llm.openai_chat.think import ThinkSplitter

PIECES = st.lists(
    st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "think>", "a", " ", "\n", "<"]),
    max_size=8,
)


def split(pieces):
    splitter = ThinkSplitter()
    parts = [part for piece in pieces for part in splitter.feed(piece)]
    parts += splitter.finish()
    text = "".join(piece for kind, piece in parts if kind == "text")
    return text, "".join(piece for kind, piece in parts if kind == "reasoning")


@pytest.mark.parametrize(
    ("said", "text", "reasoning"),
    [
        ("<think>so</think>\n\n---\na: 1", "---\na: 1", "so"),
        ("\n<think>so</think>done", "done", "so"),
        ("done <think>so</think>", "done <think>so</think>", ""),
        ("<think>never closed", "", "never closed"),
        ("<thin", "<thin", ""),
        ("<think>a</thi</think>b", "b", "a</thi"),
        ("  plain", "  plain", ""),
    ],
)
def test_a_thought_at_the_start_is_kept_apart(said, text, reasoning):
    assert split([said]) == (text, reasoning)
    assert split(list(said)) == (text, reasoning)


@given(PIECES)
@settings(deadline=None)
def test_the_pieces_do_not_matter(pieces):
    assert split(pieces) == split(["".join(pieces)])
