"""Tags that persons give a thread (`key=value`), and the tag with its task."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from uwf_core.errors import UsageError, UwfError
from uwf_core.thread.names import TASK

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_MOST_CHARACTERS = 200
_LONGEST_TASK = 200


def parse_tags(words: Sequence[str], option: str = "--tag") -> dict[str, str]:
    """Tags of words `key=value`; an empty value removes the tag.

    Raises:
        UsageError: a word is something else, or has a key or value that is not allowed.
    """
    tags: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not _KEY.match(key):
            raise UsageError(
                f"{word!r} is not a tag",
                where=option,
                hint="write key=value; the key has letters, digits, `.`, `_`, `-`, at most 64",
            )
        if len(value) > _MOST_CHARACTERS or not value.isprintable():
            raise UsageError(
                f"the value of the tag {key!r} is not one line of at most {_MOST_CHARACTERS} "
                "characters",
                where=option,
                hint="shorten it; the task of a thread can be any text",
            )
        tags[key] = value
    return tags


def task_tag(store: "Store", start: str) -> dict[str, str]:
    """The tag of a thread with this start; none if its task cannot be read."""
    try:
        task = first_line(store.text(store.payload(start)["prompt"])).replace("\0", " ")
    except (UwfError, KeyError, TypeError):
        return {}
    return {TASK: task if len(task) <= _LONGEST_TASK else f"{task[: _LONGEST_TASK - 1]}…"}


def first_line(text: str) -> str:
    """The first line of a text that is not blank."""
    return text.strip().partition("\n")[0].rstrip()
