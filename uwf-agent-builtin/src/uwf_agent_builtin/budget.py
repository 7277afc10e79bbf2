"""The limits of one call (turns, tokens, time), and one warning before they are reached."""

import time
from collections.abc import Callable
from dataclasses import replace

from uwf_agent_builtin.options import BuiltinOptions
from uwf_core.api import MaxBudget, MaxTurns, TimedOut, Usage

WARN_TURNS = 3
_WARN_SHARE = 0.85
_WARN_SECONDS = 60.0


class Budget:
    """Counts what a call has used."""

    def __init__(
        self,
        options: BuiltinOptions,
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._seconds = seconds
        self._monotonic = monotonic
        self._started = monotonic()
        self._warned = False
        self._used: Usage | None = None
        self.turns = 0

    def seconds_left(self) -> float:
        """The seconds left for the call."""
        return self._started + self._seconds - self._monotonic()

    def spend(self, usage: Usage) -> None:
        """Count a reply of the model."""
        self.turns += 1
        self._used = usage if self._used is None else self._used.plus(usage)

    def usage(self) -> Usage:
        """The usage so far; 0 if no model was called, unknown if it did not report it."""
        took = round((self._monotonic() - self._started) * 1000)
        used = self._used or Usage(
            input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0
        )
        return replace(used, turns=self.turns, duration_ms=took)

    def check(self) -> None:
        """Check the limits.

        Raises:
            MaxTurns, MaxBudget, TimedOut: a limit is reached.
        """
        if self.turns >= self._options.max_turns:
            raise MaxTurns(
                f"not done after {self.turns} turns",
                hint="the next exec continues the session; the option maxTurns allows more",
            )
        most, used = self._options.max_tokens, self._tokens()
        if most is not None and used >= most:
            raise MaxBudget(
                f"{used} tokens were used, and {most} are allowed",
                hint="the next exec continues the session; the option maxTokens allows more",
            )
        if self.seconds_left() <= 0:
            raise TimedOut(f"not done within {self._seconds:g} s")

    def warning(self) -> str | None:
        """The limit that is close; returned once."""
        if self._warned:
            return None
        said = self._near()
        self._warned = said is not None
        return said

    def _near(self) -> str | None:
        options = self._options
        left = options.max_turns - self.turns
        if self.turns and left <= min(WARN_TURNS, options.max_turns // 2):
            return f"{left} turns are left" if left != 1 else "this is the last turn"
        if options.max_tokens is not None and self._tokens() >= options.max_tokens * _WARN_SHARE:
            return f"{options.max_tokens - self._tokens()} tokens are left"
        seconds = self.seconds_left()
        if seconds <= min(_WARN_SECONDS, self._seconds * (1 - _WARN_SHARE)):
            return f"{seconds:.0f} seconds are left"
        return None

    def _tokens(self) -> int:
        """The known sum of tokens."""
        used = self._used or Usage()
        counts = (used.input_tokens, used.output_tokens, used.cache_read_tokens)
        return sum(each or 0 for each in (*counts, used.cache_write_tokens))
