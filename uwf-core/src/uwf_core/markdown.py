"""Markdown in which nothing that an agent or a person wrote is markup."""

import re
from collections.abc import Collection, Iterable, Sequence

from uwf_core.escape import one_line

_SHORTEST = "````"
_MARKUP = r"[\\`*_\[\]<>|~&#@]|^=|^[-+](?= )|(?<=^\d)[.)](?= )|(?<=^\d\d)[.)](?= )"


def fenced(text: str, language: str = "") -> str:
    """Write `text` as a Markdown code block with a fence longer than any run of backticks in it.

    In CommonMark only a fence as long as the opening one ends the block, so nothing in
    `text`, neither headings nor `---` lines nor fences, is seen outside of it.
    """
    fence = _SHORTEST
    if fence in text:
        fence = "`" * (1 + max(map(len, re.findall("`+", text))))
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def inline(text: str) -> str:
    """A sentence on one line in which nothing is markup, neither a link nor a mention."""
    return re.sub(_MARKUP, r"\\\g<0>", one_line(text))


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()
) -> str:
    """A table of cells in Markdown; the columns `right` are aligned to the right."""
    marks = ["---:" if column in right else "---" for column in range(len(headings))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (headings, marks, *rows))
