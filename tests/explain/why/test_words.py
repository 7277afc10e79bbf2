"""Durations and costs in words that everybody reads in one way."""

import pytest

from uwf_explain.explanation.words import dollars, duration


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "less than a second"),
        (999, "less than a second"),
        (1_000, "1 second"),
        (1_400, "1.4 seconds"),
        (59_949, "59.9 seconds"),
        (59_990, "1 minute"),
        (250_000, "4 minutes 10 seconds"),
        (3_660_000, "1 hour 1 minute"),
    ],
)
def test_a_duration(ms, words):
    assert duration(ms) == words


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (0, "$0.00"),
        (0.5, "$0.50"),
        (1234.5, "$1,234.50"),
        (0.0042, "$0.0042"),
        (0.0000001, "less than $0.000001"),
    ],
)
def test_an_amount_has_two_decimals_unless_it_is_below_a_cent(usd, words):
    assert dollars(usd) == words
