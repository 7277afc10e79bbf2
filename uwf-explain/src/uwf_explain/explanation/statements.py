"""What a page says: sections of statements, each with references."""

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from uwf_explain.explanation.sections import Sections

KINDS: Final = (
    *("thread", "result", "worked", "summary", "total", "unknown"),
    *("fork", "workflow", "role", "task", "reopened", "asked", "unanswered", "instruction"),
    *("said", "answer", "question", "worker", "denied", "notice", "attempt", "rejected"),
    *("correction", "replaced", "decided"),
    *("called", "branch", "delivered", "open", "worktree", "guidance"),
    *("field", "file", "text", "wordless", "route", "cost", "prompt"),
    *(
        "granted",
        "compacted",
        "limit",
        "expired",
        "unrouted",
        "tagged",
        "cancelled",
        "status",
        "proof",
    ),
)
"""The kinds of statements."""

FOR_SPECIALISTS: Final = "For specialists: the exact prompts"
"""The heading of the prompts at the end of a page."""


class Statement(NamedTuple):
    """A sentence about a thread.

    Attributes:
        kind: one of `KINDS`.
        text: the sentence; it ends with a colon if `quote` follows.
        refs: the nodes that prove it, the most direct one first; at least one.
        quote: a stored text, verbatim.
        command: a command to paste.
        note: for specialists: the rule of the workflow that decided.
        brief: the same for the summary; the beginning of `quote` follows if it ends with a colon.
    """

    kind: str
    text: str
    refs: tuple[str, ...]
    quote: str | None = None
    command: str | None = None
    note: str | None = None
    brief: str | None = None


class WhySection(NamedTuple):
    """The statements about one step, or about the thread.

    Attributes:
        title: the heading. statements: in the order in which they are read.
        prompt: the parts of the prompt; their quotes together are the prompt, except those that
            another section shows. prompt_title: what it is the prompt of.
        step, number, role, status: of a step; None in other sections.
        nodes: the step, its failed attempts and the steps that it replaced.
    """

    title: str
    statements: tuple[Statement, ...]
    prompt: tuple[Statement, ...] = ()
    step: str | None = None
    number: int | None = None
    role: str | None = None
    status: str | None = None
    nodes: tuple[str, ...] = ()
    prompt_title: str = ""


class WhyPage(NamedTuple):
    """The whole page; `root` is None while the thread runs. Its sections are `Sections`."""

    thread: str
    head: str
    root: str | None
    title: str
    sections: "Sections"
