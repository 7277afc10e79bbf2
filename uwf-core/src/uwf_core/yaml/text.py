"""JSON values as YAML, in prompts and for `--format yaml`.

The YAML is readable, and readers of YAML 1.2 and 1.1 read the same value: block style; text of
several lines as a literal block, what looks like another type or hides characters in double quotes.
Only collections are broken over lines at the left margin, so no value can add a `---` line to a
frontmatter.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from uwf_core.yaml.nodes import plain_value

_PLAIN = r"(?:[\w$<(/+]|\.{1,2}(?=[\w/]))(?:[^:#]|:(?=\S)|(?<=\S)#)*"
_OLDER = r"(?i)[-+.]?\d[\d_.:eETtZz +-]*|[-+]?0[xob][\da-fA-F_]+|yes|no|on|off"
"""Words, numbers and moments of YAML 1.1."""
_SHORT = 40
_LONGEST_SIMPLE_KEY = 200
"""YAML allows 1024 characters before the colon; beyond that a key is written with `?`."""


def yaml_text(value: Any) -> str:
    """JSON (mappings with text keys, lists, scalars) as YAML, ending in a newline.

    Lone surrogates become U+FFFD, as in the store.
    """
    lines = [_text(value)] if isinstance(value, str) else _lines(value)
    return "\n".join(lines) + "\n"


def frontmatter(output: Mapping[str, Any], body: str = "") -> str:
    """A deliverable as an agent writes it: `---`, the fields (`$status` first), `---`, the body."""
    if "$status" in output:
        output = {"$status": output["$status"], **output}
    fields = yaml_text(output) if output else ""
    return f"---\n{fields}---" + (f"\n{body}" if body else "")


def _lines(value: Any) -> list[str]:
    """The lines of `value` at the left margin, first and last included."""
    if isinstance(value, (dict, Mapping)) and value:
        return [line for key, each in value.items() for line in _entry(key, each)]
    if isinstance(value, (list, tuple)) and value:
        return [line for each in value for line in _marked("- ", _lines(each))]
    return _scalar(value)


def _entry(key: str, value: Any) -> list[str]:
    name = _text(key)
    if len(name) > _LONGEST_SIMPLE_KEY:
        return [f"? {name}", *_entry_of("", value)]
    if type(value) is str and "\n" not in value:  # nearly all, and quickest by this test
        return [f"{name}: {_text(value)}"]
    return _entry_of(name, value)


def _entry_of(name: str, value: Any) -> list[str]:
    if isinstance(value, (dict, Mapping, list, tuple)) and value:
        return _marked(f"{name}:", ["", *_lines(value)])
    lines = [_text(value)] if type(value) is str and "\n" not in value else _scalar(value)
    return _marked(f"{name}: ", lines)


def _marked(mark: str, lines: list[str]) -> list[str]:
    """Lines with a mark before the first, the others indented."""
    return [mark + lines[0], *[f"  {line}" if line else line for line in lines[1:]]]


def _scalar(value: Any) -> list[str]:
    """A scalar or an empty collection; more than one line only as a literal block."""
    if isinstance(value, str):
        return _literal(value) or [_text(value)]
    if isinstance(value, float) and value != value:
        return [".nan"]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return [".inf" if value > 0 else "-.inf"]
    if isinstance(value, (Mapping, list, tuple)):
        return ["{}" if isinstance(value, Mapping) else "[]"]
    return [json.dumps(value)]


def _text(text: str) -> str:
    """A text on one line: plain if no reader could misread it, else quoted."""
    return _short_text(text) if len(text) <= _SHORT else _written(text)


def _written(text: str) -> str:
    is_plain = (
        re.fullmatch(_PLAIN, text)
        and not _has_unprintable(text)
        and not text.endswith((" ", ":"))
        and text != "<<"
        and isinstance(plain_value(text), str)
        and not re.fullmatch(_OLDER, text)
    )
    return text if is_plain else quoted(text)


def quoted(value: Any) -> str:
    """A value on one line: JSON, with escapes for what YAML rejects or a reader cannot see."""
    return _unprintable().sub(_escaped, json.dumps(value, ensure_ascii=False))


_short_text = lru_cache(512)(_written)
"""Of names and words, most of which are the same in step after step."""


def _escaped(character: "re.Match[str]") -> str:
    code = ord(character[0])
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _literal(text: str) -> list[str]:
    """A text of several lines as a literal block, its lines not yet indented; nothing if such a
    block would not read back unchanged.
    """
    if "\n" not in text or text.endswith("\n\n"):
        return []
    lines = text.removesuffix("\n").split("\n")
    if lines[0][:1] in ("", " ") or any(
        _has_unprintable(line) or line != line.rstrip() for line in lines
    ):
        return []
    return ["|" if text.endswith("\n") else "|-", *lines]


def _has_unprintable(text: str) -> bool:
    """Whether YAML cannot show `text` as it is."""
    if text.isascii() and text.isprintable():
        return False
    return _unprintable().search(text) is not None


@cache
def _unprintable() -> re.Pattern[str]:
    """Characters that YAML cannot hold, and those that hide or reorder text (`uwf_core.escape`).
    The pattern takes milliseconds to compile, and most texts do not need it.
    """
    return re.compile(
        "[^\x20-\x7e\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u2070-\ud7ff"
        "\ue000-\ufefe\uff00-\ufff8\ufffc\ufffd\U00010000-\U000dffff\U000e0080-\U0010ffff]"
    )
