"""What `Annotated` adds to the type of a field."""

from collections.abc import Callable
from typing import Any, Final

from uwf_core.named_tuple import NamedTuple


class Rule(NamedTuple):
    """A restriction beyond the type.

    Attributes:
        message: the predicate of a value that fails. keywords: the rule in JSON Schema, as pairs.
        names_type: whether the message fits values of a wrong type as well.
    """

    message: str
    accepts: Callable[[Any], bool]
    keywords: tuple[tuple[str, Any], ...] = ()
    names_type: bool = False
    code: str = "bad-value"
    hint: str = ""


def above(least: float) -> Rule:
    """A rule for numbers above `least`."""
    return Rule(
        f"must be above {least}", lambda value: value > least, (("exclusiveMinimum", least),)
    )


def between(least: float, most: float) -> Rule:
    """A rule for numbers from `least` to `most`."""
    return Rule(
        f"must be at least {least} and at most {most}",
        lambda value: least <= value <= most,
        (("minimum", least), ("maximum", most)),
    )


NOT_BLANK: Final = Rule(
    "is blank",
    lambda text: bool(text.strip()),
    (("minLength", 1),),
    False,
    "blank-text",
    "write a text",
)


class To:
    """Marks a field of a node as a reference to nodes of these kinds, of any kind without them."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds


class Names(NamedTuple):
    """What the keys of a mapping identify, for messages: `a provider`."""

    what: str
