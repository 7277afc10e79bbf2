"""A step under way, and what it is doing, in a few words from the newest turn of its agent."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from uwf_core.escape import one_line

_MOST_CHARACTERS = 200
_STATUS = re.compile(r"""^["']?\$status["']?[ \t]*:[ \t]*["']?([^"'\s]+)""", re.MULTILINE)


class Activity(NamedTuple):
    """The newest sign of an agent: a line of text, or the tool that it uses. `in_tool`: the tool
    still runs.
    """

    said: str = ""
    in_tool: bool = False


class Running(NamedTuple):
    """A running step as seen so far: its number in the whole tree; `heard`: the last sign of life.
    Times are in seconds of one clock.
    """

    number: str
    attempt: int
    role: str
    agent: str
    started: float
    heard: float
    turns: int = 0
    tokens: int | None = None
    activity: Activity = Activity()
    answers: bool = False

    def after_turn(self, turn: Any, now: float) -> "Running":
        """Add a turn, or update a known one."""
        tokens = self.tokens
        used = turn.usage
        if used is not None and used.output_tokens is not None:
            tokens = (tokens or 0) + (used.input_tokens or 0) + used.output_tokens
        tools = [
            (each.name, is_over(each.result, each.started_ms, each.ended_ms))
            for each in turn.tool_calls
        ]
        newest = activity_of(turn.text, tools)
        activity = newest if newest.said else self.activity
        turns = max(self.turns, turn.index + 1)
        return self._replace(heard=now, turns=turns, tokens=tokens, activity=activity)


def activity_of(text: str, tools: Sequence[tuple[str, bool]]) -> Activity:
    """The activity of a turn: of its text, and its tools, each with whether it is over."""
    running = [name for name, is_over in tools if not is_over]
    if running:
        return Activity(one_line(running[-1]), in_tool=True)
    return Activity(one_line(tools[-1][0]) if tools else line_of(text))


def is_over(result: str | None, started_ms: int | None, ended_ms: int | None) -> bool:
    """Whether a use of a tool has ended: some agents send parts of its result while it runs."""
    return result is not None if started_ms is None else ended_ms is not None


def line_of(text: str) -> str:
    """A line of what an agent wrote. A reply is shown by its status and its text, not by the
    frontmatter that holds its fields: `done: I changed two files.`.
    """
    from uwf_core.extract.split import begins_with_fields, split_reply

    if not begins_with_fields(text):
        return _first_line(text)
    split = split_reply(text)
    written, body = (text, "") if isinstance(split, str) else (split.fields, split.body)
    found = _STATUS.search(written)
    status = "" if found is None else one_line(found[1])
    return ": ".join(filter(None, (status, _first_line(body)))) or "its fields"


def _first_line(text: str) -> str:
    return one_line(text.strip().partition("\n")[0][:_MOST_CHARACTERS])
