"""Texts that have to fit."""


def shorten(text: str, width: int) -> str:
    """`text` as it is if it fits into `width` characters, else its beginning and three dots as
    one character: `width` characters in all.
    """
    if len(text) >= width:
        return text[: width - 1] + "\u2026"
    return text
