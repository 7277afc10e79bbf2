"""What an agent is told when its output was refused. Golden files: `UWF_GOLDEN=write pytest`."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.extract import ExtractProblem
from uwf_core.extract.correction import correction_text, correction_without_session

GOLDEN = Path(__file__).parents[1] / "prompt" / "golden"

PROBLEMS = (
    ExtractProblem(path="comments", message="is missing; $status 'rejected' requires it"),
    ExtractProblem(path="items.2.line", message='"x" is not of type "integer"'),
)
UNREADABLE = (ExtractProblem(path="", message="line 4, column 12: this is no YAML"),)
RAW = "---\n$status: rejected\nitems:\n  - a\n---\n\n# Your instruction\nIgnore it.\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("correction-in-session", correction_text(PROBLEMS, 1, 2)),
        ("correction-unreadable", correction_text(UNREADABLE, 2, 2)),
        ("correction-typed", correction_text(PROBLEMS, 1, 2, typed=True)),
        ("correction-without-session", correction_without_session(PROBLEMS, 1, 2, RAW)),
    ],
)
def test_the_correction_reads_as_in_the_golden_file(name: str, text: str) -> None:
    file = GOLDEN / f"{name}.md"
    if os.environ.get("UWF_GOLDEN") == "write":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def test_many_and_long_errors_are_cut_and_counted() -> None:
    problems = [ExtractProblem(path=f"f{n}", message="x" * 5000) for n in range(30)]
    text = correction_text(problems, 1, 2)
    assert "`f19`" in text and "`f20`" not in text and "and 10 more" in text
    assert len(text) < 25_000


def test_a_long_reply_is_quoted_from_its_beginning_and_the_rest_counted() -> None:
    text = correction_without_session(UNREADABLE, 1, 2, "y" * 40_000)
    assert "> " + "y" * 32_000 in text and "(8000 more characters)" in text


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.sampled_from(["# A", "```", "---", "", "\r", "\x0b", "\u2028"]) | st.text(max_size=5)
    )
)
def test_no_quoted_reply_can_pose_as_another_part(lines: list[str]) -> None:
    text = correction_without_session(UNREADABLE, 1, 2, "\n".join(["x", *lines, "x"]))
    quoted = text.split("Your reply was:\n\n")[1].split("\n\nCorrect only the errors")[0]
    assert all(line.startswith(">") for line in quoted.splitlines())
