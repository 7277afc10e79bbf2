"""Commands that a person types next, as lines."""

from collections.abc import Iterable


def in_order(commands: Iterable[str]) -> list[str]:
    """`next: …`, and `then: …` for each later one."""
    return [f"{'then' if at else 'next'}: {each}" for at, each in enumerate(commands)]
