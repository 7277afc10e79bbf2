"""The parts of a stored prompt, and in which of them two prompts differ."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from uwf_core.prompt.guidance import GUIDANCE_HEADING
from uwf_explain.comparison.documents import StepDifference, difference
from uwf_explain.comparison.neutral import Sides

if TYPE_CHECKING:
    from uwf_core.api import RecordedStep

_HEADINGS = (
    ("form", "# What you must deliver\n"),
    ("role", "# Your role: "),
    ("guidance", f"{GUIDANCE_HEADING}\n"),
    ("task", "# Task\n"),
    ("progress", "# Progress\n"),
    ("history", "# What happened "),
    ("history", "# What you said last\n"),
    ("history", "# What a person said at an earlier attempt\n"),
    ("instruction", "# Your instruction\n"),
)
"""The parts of `prompt.assemble.prompt_text` in their order, with the beginning of each."""

_COMPARED = ("form", "role", "task", "history")
"""Not the progress: its sentences follow from the number of the step, its folder, its session and
the failed attempts, which are compared as such. The instruction is a separate node, and so are the
skills, memory and rules.
"""


def prompt_parts(prompt: str) -> dict[str, str]:
    """The parts of a prompt by name, in their order; a text of another form is one part, `prompt`.

    A role's text could hold a heading of uwf. Then a part has the wrong name, and no text is lost.
    """
    found, after = [], 0
    for name, heading in _HEADINGS:
        at = 0 if prompt.startswith(heading) else prompt.find(f"\n\n{heading}", after)
        if at >= after:
            found.append((name, at))
            after = at
    if not found or found[-1][0] != "instruction":
        return {"prompt": prompt}
    if found[0][1] > 0:
        found.insert(0, ("form", 0))
    ends = [at for _, at in found[1:]] + [len(prompt)]
    parts: dict[str, str] = {}
    for (name, start), end in zip(found, ends, strict=True):
        parts[name] = "\n\n".join(filter(None, (parts.get(name), prompt[start:end].strip("\n"))))
    return parts


def prompt_differences(
    a: "RecordedStep", b: "RecordedStep", sides: Sides, *, after: bool
) -> Iterator[StepDifference]:
    """In which parts the prompts of two steps differ.

    Args:
        a: one step.
        b: the other.
        sides: the comparison of texts.
        after: the threads have diverged before. Then their histories differ, which says nothing.
    """
    said = [[f"{each.kind}: {each.text}" for each in step.sayings] for step in (a, b)]
    if not sides.same(*said):
        yield _difference("person", "\n".join(said[0]), "\n".join(said[1]), sides)
    one, two = a.node["attempt"], b.node["attempt"]
    if one["prompt"] != two["prompt"] and _can_differ(a, b, after=after):
        yield from _parts(prompt_parts(a.prompt), prompt_parts(b.prompt), sides, after=after)
    if one["edgePrompt"] != two["edgePrompt"]:
        mine, other = a.edge_prompt, b.edge_prompt
        if not sides.same(mine, other):
            yield _difference("instruction", mine, other, sides)


def _can_differ(a: "RecordedStep", b: "RecordedStep", *, after: bool) -> bool:
    """Whether the prompts could differ in a part that says something. Reading two long texts for
    each step would be most of the time of a comparison.
    """
    # Which session answers is chance, and one that knows its role gets a shorter prompt.
    if a.node["attempt"]["ownSession"] != b.node["attempt"]["ownSession"]:
        return False
    return not after or a.node["workflow"] != b.node["workflow"]


def _parts(
    a: Mapping[str, str], b: Mapping[str, str], sides: Sides, *, after: bool
) -> Iterator[StepDifference]:
    if "prompt" in a or "prompt" in b:
        mine, other = ("\n\n".join(parts.values()) for parts in (a, b))
        if not sides.same(mine, other):
            yield _difference("prompt", mine, other, sides)
        return
    for name in _COMPARED:
        mine, other = a.get(name, ""), b.get(name, "")
        # A person's words are in the history of a redone step, too.
        if not (after and name in ("task", "history")) and not sides.same(mine, other):
            yield _difference(name, mine, other, sides)


def _difference(part: str, a: str, b: str, sides: Sides) -> StepDifference:
    return difference("prompt", a, b, part=part, line=sides.line(a, b))
