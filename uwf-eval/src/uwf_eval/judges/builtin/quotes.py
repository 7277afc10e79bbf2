"""Whether a quote occurs in a text. Pure."""

LEAST_CHARACTERS = 8
"""How long a quote has to be: a word like `the` occurs everywhere."""


def quote_problem(quote: str, text: str, place: str) -> str | None:
    """What is wrong with a quote, None if it occurs in `text`, letter for letter.

    White space is the only thing that may differ: models fold lines.
    """
    wanted, found = " ".join(quote.split()), " ".join(text.split())
    if len(wanted) < min(LEAST_CHARACTERS, max(1, len(found))):
        return f"the quote {quote!r} is too short: {LEAST_CHARACTERS} characters or more"
    if wanted not in found:
        shown = wanted if len(wanted) <= 100 else wanted[:100] + "…"
        return f"the quote {shown!r} does not occur in {place}"
    return None
