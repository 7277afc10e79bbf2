"""Whole numbers from one to another."""


def between(first: int, last: int) -> list[int]:
    """The numbers from `first` to `last`, both of them included."""
    if last < first:
        return []
    return list(range(first, last))
