"""Limits of time and size, the retry policy, and the clock, which tests replace."""

import random
import time
from dataclasses import dataclass

from uwf_core.api import Cancel


@dataclass(frozen=True, kw_only=True)
class ChatLimits:
    """Limits of one call.

    Attributes:
        connect_seconds: to establish a connection.
        idle_seconds: without a byte of a stream; None: no such limit.
        total_seconds: in all, with all attempts and the waits between them.
        reply_bytes: of one response after decompression.
    """

    connect_seconds: float = 10.0
    idle_seconds: float | None = 300.0
    total_seconds: float = 600.0
    reply_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """When to retry: after 408, 409, 425, 429, 5xx, a broken connection or a cut response.

    Attributes:
        attempts: the largest number of requests, with the first.
        budget_seconds: the limit of all waits together; if a service asks to wait longer, its
            failure is raised at once.
        first_seconds: the first wait; it doubles each time, up to `most_seconds`, and half of
            it is random.
    """

    attempts: int = 5
    budget_seconds: float = 60.0
    first_seconds: float = 0.5
    most_seconds: float = 20.0


class Clock:
    """The real time and randomness."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment."""
        return time.monotonic()

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def chance(self) -> float:
        """A random number from 0 to 1."""
        return random.random()

    def wait(self, seconds: float, cancel: Cancel) -> None:
        """Wait, at most until `cancel` is set."""
        cancel.wait(seconds)


class Retries:
    """Counts the attempts of one call and computes the wait before the next one."""

    def __init__(self, policy: RetryPolicy, clock: Clock) -> None:
        self.attempts = 1
        self._policy = policy
        self._clock = clock
        self._left = policy.budget_seconds

    def next_wait(self, asked_seconds: float | None) -> float | None:
        """The seconds until the next attempt, which is then counted; None: there is none.

        Args:
            asked_seconds: the wait that the service asked for, if any.
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
