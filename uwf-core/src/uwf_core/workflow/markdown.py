"""Texts of a prompt: JSON values as YAML, untrusted text in a fence.

The YAML is readable and parses back to the same value: YAML 1.2, core schema; block style; text of
several lines as a literal block. Only collections are broken over lines at the left margin, so no
value can add a `---` line to a frontmatter. Nothing in a fence can pose as another part.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from uwf_core.workflow.yaml_nodes import plain_value

_PLAIN = re.compile(r"[\w$<(/.+](?:[^:#]|:(?=\S)|(?<=\S)#)*")
_SHORT = 40
_LONGEST_SIMPLE_KEY = 200
"""YAML allows 1024 characters before the colon; beyond that a key is written with `?`."""


def yaml_text(value: Any) -> str:
    """`value` (JSON: mappings with text keys, lists, scalars) as YAML, ending in a newline.

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
        _PLAIN.fullmatch(text)
        and not _has_unprintable(text)
        and not text.endswith((" ", ":"))
        and text != "<<"
        and isinstance(plain_value(text), str)
    )
    if is_plain:
        return text
    return _unprintable().sub(_escaped, json.dumps(text, ensure_ascii=False))


_short_text = lru_cache(512)(_written)
"""Of names and words, most of which are the same in step after step."""


def _escaped(character: "re.Match[str]") -> str:
    code = ord(character[0])
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"


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
    """Whether YAML cannot hold `text` as it is."""
    if text.isascii() and text.isprintable():
        return False
    return _unprintable().search(text) is not None


@cache
def _unprintable() -> re.Pattern[str]:
    """Characters that YAML cannot hold. The pattern takes milliseconds to compile, and most texts
    do not need it.
    """
    return re.compile(
        "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    )


_BACKTICKS = re.compile("`+")
_SHORTEST = "````"


def fenced(text: str, language: str = "") -> str:
    """Write `text` as a Markdown code block with a fence longer than any run of backticks in it.

    In CommonMark only a fence as long as the opening one ends the block, so nothing in
    `text`, neither headings nor `---` lines nor fences, is seen outside of it.
    """
    fence = _SHORTEST
    if fence in text:
        fence = "`" * (1 + max(map(len, _BACKTICKS.findall(text))))
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"
