"""Fence untrusted text in a prompt, so that it cannot pose as another part of it."""

import re

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
