"""Documents as YAML."""

import json
import re
from collections.abc import Iterator
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_$/][A-Za-z0-9_$./+-]*(?: [A-Za-z0-9_$./+(-][A-Za-z0-9_$./+)-]*)*")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_TYPED = frozenset(
    ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"]
)  # also what YAML 1.1 readers would not read as text


def as_yaml(value: Any) -> str:
    """`value` as YAML that readers of 1.1 and 1.2 understand alike."""
    return "\n".join(_lines(value, 0))


def _lines(value: Any, depth: int) -> Iterator[str]:
    """The lines of a block; `depth` counts its levels of two blanks."""
    indent = "  " * depth
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _entry(f"{indent}{_scalar(str(key))}:", each, depth)
    elif isinstance(value, list | tuple) and value:
        for each in value:
            if isinstance(each, dict | list | tuple) and each:
                first, *rest = _lines(each, depth + 1)
                yield f"{indent}- {first[len(indent) + 2 :]}"
                yield from rest
            else:
                yield from _entry(f"{indent}-", each, depth)
    else:
        yield indent + _scalar(value)


def _entry(head: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict | list | tuple) and value:
        yield head
        yield from _lines(value, depth + 1)
    elif isinstance(value, str) and _fits_block(value):
        yield f"{head} |" + ("" if value.endswith("\n") else "-")
        indent = "  " * (depth + 1)
        yield from (indent + line if line else "" for line in value.removesuffix("\n").split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _fits_block(text: str) -> bool:
    """Whether a literal block can hold exactly this text: several lines, no odd ends."""
    return (
        "\n" in text.removesuffix("\n")
        and not text.startswith((" ", "\n", "\t"))
        and not text.endswith("\n\n")
        and all(letter == "\n" or letter.isprintable() for letter in text)
        and "\ufeff" not in text
    )


def _scalar(value: Any) -> str:
    """A scalar or an empty collection: as in JSON, but with plain text where possible."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _TYPED:
        return value
    return _UNPRINTABLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
