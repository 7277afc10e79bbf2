"""The question that `step ask` puts to an agent; a step does without it."""

from dataclasses import dataclass

from uwf_core.api.agent import Call


@dataclass(frozen=True, kw_only=True)
class AskRequest(Call):
    """A question to the session of a past step.

    Attributes:
        question: the text to answer.
        record: the step's record as Markdown, for an agent that has no session to ask.
        session: the session to ask (a fork of the step's own), or None.
        tools: the only tools that the step's role allows; None does not restrict.
    """

    question: str
    record: str = ""
    tools: tuple[str, ...] | None = None
