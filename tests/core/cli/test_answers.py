"""`resume --answer`: each value arrives exactly as a person gave it."""

import pytest


@pytest.fixture
def asked(uwf):
    """A thread whose writer, a person, is asked for a summary."""
    return uwf("run", "pair", "-p", "x", "--agent", "human").document["thread"]


def summary_of(uwf, thread):
    step = uwf("step", "list", thread).document["steps"][1]["step"]
    return uwf("step", "show", step).document["output"]["summary"]


@pytest.mark.parametrize(
    "text", ["a\nx=5 is a line", "a\u2028b\x0cc\r\nd", "  padded  \n", "two=2", "[a]", "2026"]
)
def test_a_value_keeps_every_character(uwf, asked, text):
    assert (
        uwf("thread", "resume", asked, "--status", "done", "--answer", f"summary={text}").code == 0
    )
    assert summary_of(uwf, asked) == text


def test_a_file_has_a_field_on_each_line_and_longer_values_below(uwf, asked, tmp_path):
    file = tmp_path / "answer"
    file.write_text("$status=done\nsummary=one\ntwo words = here\n")
    assert uwf("thread", "resume", asked, "--answer", f"@{file}").code == 0
    assert summary_of(uwf, asked) == "one\ntwo words = here"


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["summary=one", "two"], "'two' is not an answer"),
        (["summary=one", "my note=two"], "my note"),
        (["summary=one", "summary=two"], "'summary' twice"),
        (['{"$status": "done", "summary": "1", "summary": "2"}'], "'summary' twice"),
        (["[1]"], "not JSON"),
    ],
)
def test_an_answer_that_would_lose_something_changes_nothing(uwf, asked, answers, message):
    given = [word for each in answers for word in ("--answer", each)]
    status = [] if answers[0][0] in "{[" else ["--status", "done"]
    done = uwf("thread", "resume", asked, *status, *given)
    assert (done.code, done.out) == (4, "")
    assert message in done.err
    assert uwf("thread", "show", asked).document["steps"] == 0
