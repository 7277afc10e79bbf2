"""What the last line of a judge's output may be, and what each other thing is told as."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_eval.judges.failed import JudgeFailed
from uwf_eval.judges.script import read_verdict

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("printed", "score", "data"),
    [
        ('{"score": 1}', 1.0, {}),
        ('{"score": 0.25, "data": {"ran": 7}}\n', 0.25, {"ran": 7}),
        ('noise\n{"score": 0}\n\n  \n', 0.0, {}),
        ('{"score": 1}\n{"score": 0.5}', 0.5, {}),
        ('\r\n{"score": 1, "data": {"é": "ü"}}\r\n', 1.0, {"é": "ü"}),
        ("x" * 100_000 + '\n{"score": 1}', 1.0, {}),
    ],
)
def test_the_last_line_is_the_verdict_and_all_before_it_noise(printed, score, data):
    assert read_verdict(printed.encode()) == (score, data)


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        (b"", "printed nothing"),
        (b"\n \n", "printed nothing"),
        (b"all fine", "not JSON: all fine"),
        (b"0.5", "is 0.5, not a mapping"),
        (b"[1]", "not a mapping"),
        (b"{}", "no score"),
        (b'{"data": {}}', "no score"),
        (b'{"score": "1"}', "not a number"),
        (b'{"score": true}', "not a number"),
        (b'{"score": null}', "not a number"),
        (b'{"score": 1.7}', "1.7, not within 0 and 1"),
        (b'{"score": -0.1}', "-0.1, not within"),
        (b'{"score": 1e999}', "not within"),
        (b'{"score": NaN}', "holds NaN"),
        (b'{"score": 1, "data": {"a": Infinity}}', "holds Infinity"),
        (b'{"score": 1, "data": [1]}', "data is not a mapping"),
        (b'{"score": 1, "scroe": 1}', "unknown key 'scroe'"),
        (b'{"score": 1}\nbye', "not JSON: bye"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b'{"score": ' + b"9" * 10_000 + b"}", "not JSON"),
        (b'{"score": 1, "data": {"a": "' + b"a" * 2_000_000 + b'"}}', "the limit"),
    ],
)
def test_anything_else_is_a_judge_that_failed_and_says_what_it_saw(printed, words):
    with pytest.raises(JudgeFailed) as failed:
        read_verdict(printed)
    assert words in failed.value.message
    assert len(failed.value.message) < 300
    assert failed.value.hint and "last line of stdout" in failed.value.hint


@settings(deadline=None, max_examples=50)
@given(JSON)
def test_no_json_whatever_is_more_than_a_score_or_a_failure(value):
    try:
        verdict = read_verdict(json.dumps(value).encode())
    except JudgeFailed:
        return
    assert 0 <= verdict.score <= 1


@settings(deadline=None, max_examples=50)
@given(st.binary())
def test_no_bytes_whatever_are_more_than_a_score_or_a_failure(printed):
    try:
        assert 0 <= read_verdict(printed).score <= 1
    except JudgeFailed as failed:
        assert failed.message
