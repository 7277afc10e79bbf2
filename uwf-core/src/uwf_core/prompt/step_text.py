"""A step, what persons said and a typed input as the Markdown of a prompt.

Only the history, the task and texts of persons are fenced: what a template inserts into an
instruction is part of the instruction.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.markdown import fenced
from uwf_core.yaml.text import frontmatter

if TYPE_CHECKING:
    from uwf_core.thread.history import Saying


def input_text(given: Mapping[str, Any]) -> str:
    """A typed input as a prompt shows it: JSON on several lines."""
    return json.dumps(given, ensure_ascii=False, indent=2)


def step_markdown(
    number: int, role: str, output: Mapping[str, Any], body: str, said: "Iterable[Saying]" = ()
) -> str:
    """A step under a heading of level 2: what persons said to its role, and its frontmatter and
    body, each in one fenced block.

    Everything that a person or the step's agent wrote is inside a fence, so it cannot pose as
    another step.
    """
    status = " ".join(str(output.get("$status", "")).split())
    heading = f"## Step {number}: {role}" + (f", {status}" if status else "")
    reply = fenced(frontmatter(output, body))
    heard = said_markdown(said)
    return "\n\n".join((heading, *heard, *(["The reply:"] if heard else []), reply))


def said_markdown(said: "Iterable[Saying]") -> list[str]:
    """What persons said, each in a fenced block with a line above it."""
    return [f"{_SAID.get(each.kind, 'A person said:')}\n\n{fenced(each.text)}" for each in said]


_SAID = {"answer": "A person answered:", "poke": "A person asked to redo the reply:"}
