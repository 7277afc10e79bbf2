"""How many pages a list takes."""


def pages(items: int, size: int) -> int:
    """The number of pages for `items` things, `size` on a page; an empty list has none."""
    if size < 1:
        raise ValueError("a page holds at least one")
    full, rest = divmod(items, size)
    return full + 1 if rest >= 0 else full
