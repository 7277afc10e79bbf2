"""Formats figures; an unknown one is a dash."""

import time
from typing import Final

from uwf_core.api import Usage
from uwf_core.commands import count, duration
from uwf_eval.report.estimates import Amount, Mean, Rate, has_tokens

NONE: Final = "–"
NOT_ENOUGH: Final = "not enough data"


def percent(value: float | None) -> str:
    """A share in whole percent; only an exact 0 or 1 is shown as 0% or 100%."""
    if value is None:
        return NONE
    if 0 < value < 0.005:
        return "<1%"
    if 0.995 < value < 1:
        return ">99%"
    return f"{value * 100:.0f}%"


def score(value: float | None) -> str:
    """A score with two digits."""
    return NONE if value is None else f"{value:.2f}"


def rate_range(rate: Rate) -> str:
    """The interval of a rate: `46–71%`."""
    if rate.low is None or rate.high is None:
        return NOT_ENOUGH if rate.trials else NONE
    return f"{rate.low * 100:.0f}–{rate.high * 100:.0f}%"


def mean_range(mean: Mean) -> str:
    """The interval of a mean score: `0.62–0.79`."""
    if mean.low is None or mean.high is None:
        return NOT_ENOUGH if mean.trials else NONE
    return f"{mean.low:.2f}–{mean.high:.2f}"


def dollars(value: float | None) -> str:
    """Money with significant digits: `$0.0123`, `$1.23`, `$1,234`."""
    if value is None:
        return NONE
    if value == 0 or value >= 100:
        return f"${value:,.0f}"
    if value >= 0.995:
        return f"${value:.2f}"
    places = 2
    while places < 6 and value < 0.995 * 10 ** (1 - places):
        places += 1
    return f"${value:.{places}f}"


def tokens(value: float | None) -> str:
    """A count of tokens: `950`, `12.3k`, `1.2M`."""
    return count(None if value is None else round(value))


def elapsed(ms: float | None) -> str:
    """A duration: `950ms`, `1m05s`."""
    return duration(None if ms is None else round(ms))


def clip(text: str, most: int) -> str:
    """Shorten a text to `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def plural(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`, `10,000 trials`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def known(amount: Amount) -> str:
    """How much of an amount is known; "" if all is."""
    return "" if amount.whole else f"known of {amount.known:,} of {amount.of:,}"


def at_least(amount: Amount, shown: str) -> str:
    """Mark a total with unknown parts as a minimum."""
    return _marked(shown, amount.whole)


def cost_of(usage: Usage) -> str:
    """The cost of a usage; a lower bound is marked."""
    return _marked(dollars(usage.cost_usd), usage.is_exact("costUsd"))


def tokens_of(usage: Usage) -> str:
    """The tokens of a usage; a lower bound is marked."""
    return _marked(tokens(usage.tokens), has_tokens(usage))


def _marked(shown: str, is_exact: bool) -> str:
    return shown if is_exact or shown == NONE else f"≥ {shown}"


def utc(ms: int | None) -> str:
    """A time in UTC, to the minute."""
    if ms is None:
        return NONE
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(ms / 1000))
