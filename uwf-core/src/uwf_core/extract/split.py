"""Split a reply into its frontmatter and its body, as texts. Reads no YAML."""

import re

_BEGIN = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|\Z)")
_END = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")
_SHOWN = 80


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
        len(raw.splitlines()) if isinstance(split, str) else split[1] + len(split[0].splitlines())
    )


def split_reply(raw: str) -> tuple[str, int, str] | str:
    """Split `raw`, or describe what was found instead.

    Returns:
        The frontmatter; its first line in the reply, from 1; and the body, without blank lines
        before it and white space after it (later `---` lines are kept).

    The first line that is not blank must be `---` (a byte order mark before it is allowed); the
    next line that is `---` ends the frontmatter.
    """
    begin = _BEGIN.match(raw)
    if begin is None:
        return _found_instead(raw)
    end = _END.search(raw, begin.end())
    if end is None:
        return "the frontmatter has no end: a second line that is exactly `---` is missing"
    body = raw[end.end() :]
    blank = _BLANK_LINES.match(body)
    return (
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
