"""What a page says: sections of statements, each with references."""

from typing import Final

from uwf_core.named_tuple import NamedTuple

KINDS: Final = (
    *("thread", "fork", "workflow", "role", "task", "total"),
    *("asked", "instruction", "said", "answer", "question", "worker", "denied"),
    *("attempt", "correction", "replaced", "decided", "field", "text", "route", "cost", "prompt"),
    *("granted", "limit", "unrouted", "cancelled", "status", "proof"),
)
"""The kinds of statements."""


class Statement(NamedTuple):
    """A sentence about a thread.

    Attributes:
        kind: one of `KINDS`.
        text: the sentence; it ends with a colon if `quote` follows.
        refs: the nodes that prove it, the most direct one first; at least one.
        quote: a stored text, verbatim.
        command: a command to paste.
    """

    kind: str
    text: str
    refs: tuple[str, ...]
    quote: str | None = None
    command: str | None = None


class WhySection(NamedTuple):
    """The statements about one step, or about the thread.

    Attributes:
        title: the heading. statements: in the order in which they are read.
        prompt: the parts of the prompt; their quotes together are the prompt, except those that
            another section shows.
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


class WhyPage(NamedTuple):
    """The whole page; `root` is None while the thread runs."""

    thread: str
    head: str
    root: str | None
    title: str
    sections: tuple[WhySection, ...]
