"""How long, how large, how often again; and the clock, which tests replace."""

import random
import time
from dataclasses import dataclass

from uwf_core.process.cancel import Cancel


@dataclass(frozen=True, kw_only=True)
class ChatLimits:
    """Limits of one call.

    Attributes:
        connect_seconds: until a connection stands.
        idle_seconds: without a byte, once a stream was asked for; None: no such limit.
        total_seconds: for everything, attempts and waits between them included.
        reply_bytes: of one answer, as it is after decompression.
    """

    connect_seconds: float = 10.0
    idle_seconds: float | None = 300.0
    total_seconds: float = 600.0
    reply_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """When a failed request is made again: on 408, 409, 429, 5xx, a broken connection, a cut.

    Attributes:
        attempts: how many requests at most, the first included.
        budget_seconds: how long all waits together may take; a service that asks to wait longer
            is believed, and its failure raised at once.
        first_seconds: the first wait; it doubles each time, up to `most_seconds`, and half of
            it is left to chance.
    """

    attempts: int = 5
    budget_seconds: float = 60.0
    first_seconds: float = 0.5
    most_seconds: float = 20.0


class Clock:
    """Time and chance as they are."""

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def chance(self) -> float:
        """A number from 0 up to 1."""
        return random.random()

    def wait(self, seconds: float, cancel: Cancel) -> None:
        """Let time go by, at most until `cancel` is set."""
        cancel.wait(seconds)


class Retries:
    """Counts the attempts of one call and says how long to wait before the next."""

    def __init__(self, policy: RetryPolicy, clock: Clock) -> None:
        self.attempts = 1
        self._policy = policy
        self._clock = clock
        self._left = policy.budget_seconds

    def next_wait(self, asked_seconds: float | None) -> float | None:
        """Seconds until the next attempt, which is then counted; None: there is none.

        Args:
            asked_seconds: what the service asked for, if it did.
        """
        if self.attempts >= self._policy.attempts:
            return None
        usual = min(
            self._policy.first_seconds * 2.0 ** (self.attempts - 1), self._policy.most_seconds
        )
        wait = max(usual * (0.5 + 0.5 * self._clock.chance()), asked_seconds or 0.0)
        if wait > self._left:
            return None
        self._left -= wait
        self.attempts += 1
        return wait
