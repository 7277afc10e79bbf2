"""One step of a thread as Markdown: for the next agent, for a question to a step, for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.prompt.quote import fenced
from uwf_core.prompt.yaml_text import frontmatter


class StepRecord(NamedTuple):
    """The deliverable of a step.

    Attributes:
        number: its number in the thread, from 1.
        role: the role of the step.
        output: the fields it delivered, `$status` among them.
        body: the text after the frontmatter (may be empty).
    """

    number: int
    role: str
    output: Mapping[str, Any]
    body: str


def step_markdown(step: StepRecord) -> str:
    """The step under a heading of level 2, frontmatter and body in one fenced block.

    Everything that the step's agent wrote is inside the fence, so it cannot pose as another step.
    """
    status = " ".join(str(step.output.get("$status", "")).split())
    heading = f"## Step {step.number}: {step.role}" + (f", {status}" if status else "")
    return f"{heading}\n\n{fenced(frontmatter(step.output, step.body))}"


def newest_within(texts: Sequence[str], limit: int) -> int:
    """The index from which `texts` fit into `limit` characters, blank lines included.

    The last one always fits, whatever its length.
    """
    index = len(texts)
    total = 0
    while index > 0:
        total += len(texts[index - 1]) + (2 if index < len(texts) else 0)
        if total > limit and index < len(texts):
            break
        index -= 1
    return index
