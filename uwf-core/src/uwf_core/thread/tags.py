"""Tags that persons give a thread (`key=value`), and the tag with its task."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.errors import UsageError, UwfError
from uwf_core.thread.names import TASK

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_MOST_CHARACTERS = 200
_LONGEST_TASK = 200
CUT = "…"
"""At the end of a task that is longer."""


def parse_tags(words: Sequence[str], option: str = "--tag") -> dict[str, Any]:
    """Tags of words `key=value`; an empty value removes the tag.

    Raises:
        UsageError: a word is something else, or has a key or value that is not allowed.
    """
    parts = [word.partition("=") for word in words]
    tags = {key: value if equals else None for key, equals, value in parts}
    check_tags(tags, option)
    return tags


def check_tags(tags: Mapping[Any, Any], where: str = "tags") -> None:
    """Reject a key or value that is not allowed. Raises UsageError."""
    for key, value in tags.items():
        if not (isinstance(key, str) and isinstance(value, str) and _KEY.match(key)):
            raise UsageError(
                f"{key!r} is not a tag",
                where=where,
                hint="write key=value; the key has letters, digits, `.`, `_`, `-`, at most 64",
            )
        if len(value) > _MOST_CHARACTERS or not value.isprintable():
            raise UsageError(
                f"the value of the tag {key!r} is not one line of at most {_MOST_CHARACTERS} "
                "characters",
                where=where,
                hint="shorten it; the task of a thread can be any text",
            )


def task_tag(store: "Store", start: str) -> dict[str, str]:
    """The tag of a thread with this start; none if its task cannot be read."""
    try:
        task = first_line(store.text(store.payload(start)["prompt"])).replace("\0", " ")
    except (UwfError, KeyError, TypeError):
        return {}
    return {TASK: task if len(task) <= _LONGEST_TASK else f"{task[: _LONGEST_TASK - 1]}{CUT}"}


def first_line(text: str) -> str:
    """The first line of a text that is not blank."""
    return text.strip().partition("\n")[0].rstrip()
