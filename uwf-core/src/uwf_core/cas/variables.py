"""Names that move: their form, their checksum, their errors."""

import re
from collections.abc import Mapping

from uwf_core.api.store import Variable
from uwf_core.cas.hashing import variable_checksum
from uwf_core.errors import BusyError, CorruptNodeError, PayloadError
from uwf_core.ids import Ref

_NAME = re.compile(r"@[a-zA-Z][a-zA-Z0-9]*(?:/[a-zA-Z0-9._-]+)+")
"""`@scope/segment/…`, as in ocas 0.4."""


def following(
    name: str, value: str, tags: Mapping[str, str], before: Variable | None, now_ms: int
) -> Variable:
    """The variable that comes after `before`; its checksum differs from that of `before`.

    Raises:
        PayloadError: the name, the value or a tag is invalid.
    """
    check_form(name, value, tags)
    created = before.created_ms if before else now_ms
    # Never twice the same columns, or a compare-and-set could not tell who came first.
    updated = max(now_ms, before.updated_ms + 1) if before else now_ms
    checksum = variable_checksum(name, value, tags, created, updated)
    return Variable(name, str(value), dict(tags), created, updated, checksum)


def check_form(name: object, value: object, tags: Mapping[str, str]) -> None:
    """Whether these can be a variable.

    Raises:
        PayloadError: the name, the value or a tag is invalid.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PayloadError(
            f"{name!r} is not a name of a variable",
            hint="use `@scope/segment/…` of letters, digits, `.`, `_` and `-`",
        )
    if not isinstance(value, str) or not Ref.matches(value):
        raise PayloadError(f"{name} cannot refer to {value!r}: it is not a reference")
    if _are_texts(*tags, *tags.values()):  # all at once: a step writes dozens of them
        return
    for key, text in tags.items():
        if not _are_texts(key, text):
            raise PayloadError(f"the tag {key!r} of {name} is not plain text: {text!r}")


def _are_texts(*texts: str) -> bool:
    """Whether all are texts without NUL and lone surrogates."""
    try:
        joined = "\0".join(texts)
        joined.encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return joined.count("\0") == max(0, len(texts) - 1)


def is_intact(variable: Variable) -> bool:
    """Whether all columns match the checksum."""
    name, value, tags, created, updated, checksum = variable
    try:
        return variable_checksum(name, value, tags, created, updated) == checksum
    except TypeError:  # damage has turned a text into something else
        return False


def damaged(name: str) -> CorruptNodeError:
    """The error for a row that does not match its checksum."""
    return CorruptNodeError(
        f"the variable {name} is damaged: its columns do not match their checksum",
        hint="restore the store from a copy",
    )


def moved(name: str) -> BusyError:
    """The error for a compare-and-set that came too late."""
    return BusyError(f"another process changed {name} meanwhile", hint="read it again and repeat")
