"""Neighbours, a few at a time."""


def windows(values: list[int], size: int) -> list[list[int]]:
    """Every run of `size` values that stand beside each other, from left to right."""
    if size < 1:
        raise ValueError("a window holds at least one")
    return [values[start : start + size] for start in range(len(values) - size)]
