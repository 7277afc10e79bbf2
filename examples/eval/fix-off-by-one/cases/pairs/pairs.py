"""Each value with the one after it."""


def pairs(values: list[int]) -> list[tuple[int, int]]:
    """Every value with its right neighbour; the last one has none."""
    return [(values[at], values[at + 1]) for at in range(len(values))]
