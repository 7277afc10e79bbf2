"""A wrong argument of the client is an error of uwf that changes nothing, as that of a command."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from uwf_core.client import Client, ThreadFilter
from uwf_core.errors import UnknownIdError, UsageError
from uwf_core.testing.project import Project

WRONG_TAGS: tuple[Mapping[Any, Any], ...] = (
    {"a b": "c"},
    {"": "x"},
    {"key": "two\nlines"},
    {"key": "\x1b[31m"},
    {"key": "x" * 201},
    {"key": 1},
    {1: "x"},
)


@pytest.mark.parametrize("tags", WRONG_TAGS)
def test_what_the_command_calls_no_tag_is_none_for_the_client(
    uwf: Client, thread: str, tags: Any
) -> None:
    with pytest.raises(UsageError, match="tag"):
        uwf.start("loop", "The task.", tags=tags)
    with pytest.raises(UsageError, match="tag"):
        uwf.tag(thread, tags)
    assert [row["tags"] for row in uwf.list()] == [{}]


@pytest.mark.parametrize("count", [0, -1, 1.5, "2"])
def test_a_count_below_one_runs_no_step(uwf: Client, thread: str, count: Any) -> None:
    with pytest.raises(UsageError, match="steps cannot be run"):
        uwf.exec(thread, count=count)
    assert uwf.show(thread)["steps"] == 0


def test_an_argument_of_another_kind_is_named(uwf: Client, thread: str) -> None:
    wrong: dict[Any, Callable[[Any], Any]] = {
        "day": lambda word: uwf.usage(by=word),
        "soon": lambda word: uwf.wait(thread, word),
        5: uwf.show,
        7: uwf.step,
    }
    for word, call in wrong.items():
        with pytest.raises((UsageError, UnknownIdError), match=str(word)):
            call(word)


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (ThreadFilter(statuses=("foo",)), "unknown status 'foo'"),
        (ThreadFilter(failure="foo"), "unknown kind of failure 'foo'"),
        (ThreadFilter(limit=10**30), "the limit 10{30} is not in the range from 0 to "),
        (ThreadFilter(offset=10**30), "the offset 10{30} is not in the range from 0 to "),
        (ThreadFilter(offset=-1), "the offset -1 is not in the range from 0 to "),
    ],
)
def test_a_list_of_what_cannot_be_is_no_empty_list(
    uwf: Client, wanted: ThreadFilter, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        uwf.list(wanted)


@pytest.mark.parametrize(
    "words",
    [
        ("thread", "list", "--limit"),
        ("thread", "list", "--limit", str(2**53 - 1), "--offset"),
        ("log", "list", "--limit"),
        ("improve", "reflect", "loop", "--limit"),
    ],
)
def test_a_number_beyond_the_range_is_named_with_it(project: Project, words: Any) -> None:
    refused = project.uwf(*words, str(10**23))
    assert refused.exit_code == 2
    assert f"<=x<={2**53 - 1}" in refused.stderr
    assert project.uwf("thread", "list", "--limit", str(2**53 - 1)).exit_code == 0
