"""Untrusted text in a prompt, fenced so that it cannot pose as another part; a step as Markdown."""

import re
from collections.abc import Mapping
from typing import Any

from uwf_core.prompt.yaml_text import frontmatter

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


def step_markdown(number: int, role: str, output: Mapping[str, Any], body: str) -> str:
    """A step under a heading of level 2, its frontmatter and body in one fenced block.

    Everything that the step's agent wrote is inside the fence, so it cannot pose as another step.
    """
    status = " ".join(str(output.get("$status", "")).split())
    heading = f"## Step {number}: {role}" + (f", {status}" if status else "")
    return f"{heading}\n\n{fenced(frontmatter(output, body))}"
