"""A step: what was asked, by which prompt, what came back; and the nodes behind every statement."""

import uwf_explain
from uwf_core.errors import UnknownIdError
from uwf_core.ids import Ref
from uwf_web.page import Document, Page, Visit


def read_step(visit: Visit) -> Document:
    """The documents of `step show`, and of `thread why`, which knows the parts of the prompt."""
    step = visit.client.step(visit.path["step"])
    return {"step": step, "why": uwf_explain.why(visit.client, visit.path["thread"], step["step"])}


def read_diff(visit: Visit) -> Document:
    """What the step changed in the files, as a patch."""
    step = visit.path["step"]
    return {"diff": visit.client.step_diff(step), "patch": visit.client.step_patch(step)}


def read_node(visit: Visit) -> Document:
    """A node of the store."""
    return visit.client.node(visit.path["ref"])


def step_of(visit: Visit) -> str | None:
    """The reference of the step, which decides its page."""
    word = visit.path["step"]
    return word if Ref.matches(word) else None


def node_of(visit: Visit) -> str:
    """The reference of the node.

    Raises:
        UnknownIdError: it is not a reference.
    """
    if not Ref.matches(visit.path["ref"]):
        raise UnknownIdError(f"{visit.path['ref']!r} is not a reference")
    return visit.path["ref"]


STEP: Page = Page(
    "step.html",
    read_step,
    ("uwf step show {step}", "uwf thread why {thread} --step {step}"),
    step_of,
)
DIFF: Page = Page("diff.html", read_diff, ("uwf step diff {step}",), step_of)
NODE: Page = Page("node.html", read_node, ("uwf cas get {ref}",), node_of)
