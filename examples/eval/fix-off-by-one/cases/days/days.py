"""How long a stay is."""


def days(first: int, last: int) -> int:
    """The days from `first` to `last` (as numbers), both of them counted."""
    if last < first:
        raise ValueError("it ends before it begins")
    return last - first
