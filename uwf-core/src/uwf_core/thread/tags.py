"""Tags that persons give a thread: `key=value`. Pure."""

import re
from collections.abc import Sequence

from uwf_core.errors import UsageError

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_MOST_CHARACTERS = 200


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
