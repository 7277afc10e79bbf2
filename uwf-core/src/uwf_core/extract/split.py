"""Split a reply into its frontmatter and its body, as texts. Reads no YAML."""

import json
import re
from typing import NamedTuple

_BEGIN = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|\Z)")
_END = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")
_FENCE = r"\ufeff?\s*(?P<marks>`{3,}|~{3,})(?P<word>[^`\r\n]*)\r?\n"
_STATUS_LINE = r"(?m)^[\"']?\$status[\"']?[ \t]*:"
_SHOWN = 80


class SplitReply(NamedTuple):
    """The parts of a reply.

    Attributes:
        fields: the frontmatter. line: its first line in the reply, from 1.
        body: without blank lines before it and white space after it.
        noted: how the reply differs from what the role was asked for, if it does.
    """

    fields: str
    line: int
    body: str
    noted: str = ""


def begins_with_fields(raw: str) -> bool:
    """Whether a reply, which may still grow, begins with frontmatter."""
    return _BEGIN.match(raw) is not None


def lines_of_fields(raw: str) -> int:
    """How many lines the frontmatter takes at the start of a reply, which may still grow; with the
    lines around it.
    """
    if not begins_with_fields(raw):
        return 0
    split = split_reply(raw)
    return (
        len(raw.splitlines())
        if isinstance(split, str)
        else split.line + len(split.fields.splitlines())
    )


def split_reply(raw: str) -> SplitReply | str:
    """Split `raw`, or describe what was found instead.

    The first line that is not blank must be `---` (a byte order mark before it is allowed); the
    next line that is `---` ends the frontmatter (later ones are part of the body). The whole reply
    may be in one code fence, and may be one JSON object.
    """
    if _BEGIN.match(raw) is not None:
        return _split(raw)
    inner, above = _without_fence(raw)
    if above and _BEGIN.match(inner) is not None:
        found = _split(inner)
        if isinstance(found, str):
            return found
        return found._replace(line=found.line + above, noted="the reply was in a code fence")
    if _is_object(inner) or (above and re.search(_STATUS_LINE, inner)):
        form = "one JSON object" if _is_object(inner) else "fields without `---` lines"
        fence = " in a code fence" if above else ""
        return SplitReply(
            inner.removeprefix("\ufeff"), 1 + above, "", f"the reply was {form}{fence}"
        )
    return _found_instead(raw)


def _without_fence(raw: str) -> tuple[str, int]:
    """What a reply that is one code fence has in it, and how many lines are above; else `raw`. A
    fence with a word after it begins another one inside.
    """
    begin = re.match(_FENCE, raw)
    if begin is None:
        return raw, 0
    marks, depth, at = begin["marks"], 1, begin.end()
    for line in raw[at:].splitlines(keepends=True):
        bare = line.strip()
        if depth == 0 and bare:
            return raw, 0
        if bare.startswith(marks[:3]) and depth:
            is_end = not bare.strip(marks[0]) and (depth > 1 or len(bare) >= len(marks))
            depth += -1 if is_end else 1 if bare.strip(marks[0]) else 0
            if depth == 0:
                end = at
        at += len(line)
    return (raw, 0) if depth else (raw[begin.end() : end], raw.count("\n", 0, begin.end()))


def _is_object(text: str) -> bool:
    """Whether a text is one JSON object."""
    text = text.removeprefix("\ufeff").strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _split(raw: str) -> SplitReply | str:
    begin = _BEGIN.match(raw)
    assert begin is not None
    end = _END.search(raw, begin.end())
    if end is None:
        return "the frontmatter has no end: a second line that is exactly `---` is missing"
    body = raw[end.end() :]
    blank = _BLANK_LINES.match(body)
    return SplitReply(
        raw[begin.end() : end.start()],
        raw.count("\n", 0, begin.end()) + 1,
        body[blank.end() if blank else 0 :].rstrip(),
    )


def _found_instead(raw: str) -> str:
    text = raw.removeprefix("\ufeff").strip()
    if not text:
        return "the reply is empty"
    first = text.split("\n", 1)[0].rstrip()
    shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}…"
    later = _END.search(raw)
    if first.startswith(("```", "~~~")):
        found = f"it begins with a code fence ({shown}); remove the fence"
    elif first.startswith("---"):
        found = f"its first line is {shown!r}, not `---` alone at the left margin"
    elif later:
        lines = raw.count("\n", 0, later.start())
        stand = "line is" if lines == 1 else "lines are"
        found = f"{lines} {stand} before the first `---` line: {shown!r}"
    elif first.startswith(("{", "[")):
        found = f"it begins with JSON: {shown!r}"
    else:
        found = f"it begins with {shown!r}"
    return f"the reply does not begin with a `---` line; {found}"
