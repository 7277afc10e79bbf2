"""The live line of a step under way."""

from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.cli.render import amounts

if TYPE_CHECKING:
    from uwf_core.views.activity import Activity

_NO_MODEL = ("program", "workflow")
"""What the steps of programs and calls record as their agents; neither gives signs of life."""


class Running(NamedTuple):
    """A running step as seen so far: its number in the whole tree; seconds are from a monotonic
    clock.
    """

    number: str
    attempt: int
    role: str
    agent: str
    started: float
    heard: float
    turns: int = 0
    tokens: int | None = None
    activity: "Activity | None" = None
    answers: bool = False

    def line(self, now: float) -> str:
        """`#3 reviewer · mock · 12s · waiting 4s for the model · 2 turns · 1.2k tokens · text`."""
        parts = [f"#{self.number} {self.role}", self.agent]
        if self.answers:
            parts.append("a person's answer")
        elif self.attempt > 1:
            parts.append(f"attempt {self.attempt}")
        parts.append(_seconds(now - self.started))
        parts.append(self._doing(now))
        if self.turns:
            parts.append(f"{self.turns} turn{'' if self.turns == 1 else 's'}")
        if self.tokens is not None:
            parts.append(f"{amounts.count(self.tokens)} tokens")
        if self.activity is not None and not self.activity.in_tool:
            parts.append(self.activity.said)
        return " · ".join(filter(None, parts))

    def _doing(self, now: float) -> str:
        """What it does since the last sign of life."""
        silent = now - self.heard
        since = _seconds(silent) if silent >= 1 else ""
        if self.activity is not None and self.activity.in_tool:
            return f"running {self.activity.said} {since}".rstrip()
        if not since or self.answers or self.agent in _NO_MODEL:
            return ""
        return f"waiting {since} for the {'model' if self.turns else 'agent'}"

    def after_turn(self, turn: Any, now: float) -> "Running":
        """Add a turn, or update a known one."""
        from uwf_core.views.activity import activity_of, is_over  # only where the line is drawn

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


def _seconds(seconds: float) -> str:
    """`12s`, `3m05s`."""
    return f"{seconds:.0f}s" if seconds < 59.5 else amounts.duration(round(seconds) * 1000)
