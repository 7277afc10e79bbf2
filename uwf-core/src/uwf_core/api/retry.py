"""The policy of retries as a role or the configuration states it."""

from typing import Annotated, Literal, NamedTuple

from uwf_core.fields.mismatch import SPAN, between

A_YEAR = between(0.001, 365 * 86_400)
"""How long a pause may be, in seconds."""

RetriedKind = Literal[
    "unavailable", "rate_limited", "context_too_long", "max_turns", "timeout", "stalled", "crashed",
    "truncated", "too_large", "empty", "session_lost", "invalid_output",
]  # fmt: skip
"""The kinds of failures after which a further attempt can succeed."""


class Retry(NamedTuple):
    """Which failed attempts at a step are made again without a person, how often, and when."""

    max_attempts: Annotated[int, "Attempts at a step, the first one included.", between(1, 100)]
    on: Annotated[tuple[RetriedKind, ...], "The kinds of failures that are tried again."] = (
        *("unavailable", "rate_limited", "timeout", "stalled", "crashed"),
        *("truncated", "empty", "session_lost"),
    )
    interval: Annotated[float, "The pause before the second attempt.", SPAN, A_YEAR] = 30.0
    backoff: Annotated[float, "The factor of each further pause.", between(1, 100)] = 2.0
    max_interval: Annotated[float, "The longest pause.", SPAN, A_YEAR] = 600.0
