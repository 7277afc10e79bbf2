"""A wrong argument of the client is an error of uwf that changes nothing, as that of a command."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from uwf_core.client import Client
from uwf_core.errors import UnknownIdError, UsageError

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
