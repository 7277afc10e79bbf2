"""The rules of a value beyond its type, values that do not fit, and the words that report them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

Path = tuple[str | int, ...]

ABSENT: Final = object()
"""The result of a value that does not fit; the mismatch is recorded."""
MAX_MISMATCHES: Final = 201
"""The limit of recorded mismatches, one more than are reported: nobody reads thousands."""
_MOST_COMPARED, _LONGEST, _MOST_WORK = 100, 64, 5_000
"""The limits of a suggestion: names to compare, characters of each, and products of these."""


class FieldFault(ValueError):
    """A value that does not fit its field; `path` leads to it from the outermost mapping."""

    def __init__(self, path: Path, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint

    def place(self) -> str:
        """The path as text: `turns.2.toolCalls`, "" for the whole."""
        return ".".join(map(str, self.path))


class Mismatch(NamedTuple):
    """A value that does not fit.

    Attributes:
        path: leads to it. code: a stable word. message: a predicate, such as `is missing`.
        value: what was found, if the type is wrong. known: the names that are allowed there.
    """

    path: Path
    code: str
    message: str
    hint: str = ""
    value: Any = ABSENT
    known: Iterable[str] = ()

    def as_error(self) -> FieldFault:
        """The mismatch as an error, with what was found and the nearest known name."""
        hint, message, typed = self.hint, self.message, self.path[-1:]
        if self.value is not ABSENT:
            message = f"is {shown(self.value)}; wanted {message.removeprefix('must be ')}"
            typed = (self.value,)
        if self.known:
            hint = suggestion(str(*typed), self.known)
        return FieldFault(self.path, message, hint or None)


class Reading:
    """One read.

    Attributes:
        closed: whether an unknown key is rejected.
        null_unset: whether null means the default of an optional field.
        mismatches: those found.
    """

    __slots__ = ("closed", "mismatches", "null_unset")

    def __init__(self, *, closed: bool = True, null_unset: bool = False) -> None:
        self.closed = closed
        self.null_unset = null_unset
        self.mismatches: list[Mismatch] = []

    def reject(self, *mismatch: Any) -> Any:
        """Record a mismatch (the fields of `Mismatch`); return `ABSENT`."""
        if len(self.mismatches) < MAX_MISMATCHES:
            self.mismatches.append(Mismatch(*mismatch))
        return ABSENT


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that a user who typed `word` probably meant."""
    import itertools
    from difflib import get_close_matches

    some = (name for name in itertools.islice(names, _MOST_COMPARED) if len(name) <= _LONGEST)
    by_lower = {name.lower().replace("_", ""): name for name in some}
    typed = word[:_LONGEST].lower().replace("_", "")
    close = get_close_matches(typed, _few(typed, list(by_lower)), n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def _few(typed: str, names: list[str]) -> list[str]:
    """Those that are worth a comparison, which takes the product of the lengths: all of them, or
    those that have the most in common with what was typed.
    """
    if len(typed) * sum(map(len, names)) <= _MOST_WORK:
        return names
    parts = _parts(typed)
    likely = sorted(names, key=lambda name: -len(parts & _parts(name)))
    return likely[: max(1, _MOST_WORK // (len(typed) * max(map(len, names), default=1) or 1))]


def _parts(text: str) -> set[str]:
    return {*text, *(text[at : at + 2] for at in range(len(text)))}


def suggestion(word: str, known: Iterable[str]) -> str:
    """A hint with the nearest known name, or all of them."""
    names = list(known)
    close = nearest(word, names)
    if close is not None:
        return f"did you mean {close!r}?"
    shown_names = [name for name in names[:20] if len(name) <= _LONGEST]
    more = ", …" if len(names) > 20 else ""
    return f"known: {', '.join(shown_names)}{more}" if shown_names else ""


def not_a_field(name: str, of: str, known: Collection[str]) -> str:
    """The problem of an unknown field; `of` names what has the fields."""
    near = nearest(name, known)
    said = f"did you mean {near!r}?" if near else f"its fields are: {', '.join(known)}"
    return f"is not a field of {of}; {said}"


def short(text: str) -> str:
    """A word as a message quotes it."""
    return text if len(text) <= 60 else f"{text[:57]}…"


def dotted(path: Path) -> str:
    """A path as text, such as `roles.writer.tools.0`; a name with a dot is in double quotes."""
    steps = [short(str(step)) for step in path]
    return ".".join(f'"{step}"' if "." in step or not step else step for step in steps)


def shown(value: Any) -> str:
    """A value as a message shows it, short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# -- names ----------------------------------------------------------------------------------------

LONGEST_NAME: Final = 100
"""The longest name, in UTF-8."""
_NAME = r"\w[\w.-]*\Z"
_NAME_HINT: Final = "use letters, digits, `_`, `.` and `-`, with a letter, a digit or `_` first"


def name_fault(name: str) -> tuple[str, str] | None:
    """Why `name` is not a name, in words that follow it, and the hint; None if it is one."""
    if not name.isascii():
        from unicodedata import is_normalized  # few names need it

        if not is_normalized("NFC", name):
            return "is not in the normal form NFC of Unicode", "type its accented letters anew"
    if not re.match(_NAME, name):
        return "is not a valid name", _NAME_HINT
    if len(name.encode("utf-8", "surrogatepass")) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} bytes", "shorten it"
    return None


# -- what `Annotated` adds to the type of a field --------------------------------------------------


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


def same(payload: Any) -> Any:
    """A payload as it is, as `shown` of `To`."""
    return payload


class To:
    """Marks a field of a node as a reference to nodes of these kinds, of any kind without them.
    `shown`: what a document has in place of the reference, made of the payload that it leads to.
    """

    def __init__(self, *kinds: str, shown: Callable[[Any], Any] | None = None) -> None:
        self.kinds = kinds
        self.shown = shown


class InSeconds(NamedTuple):
    """Marks a number of seconds that files can also write as `30s`, `10m`, `4h` or `2d`."""


SPAN: Final = InSeconds()


class Names(NamedTuple):
    """What the keys of a mapping identify, for messages: `a provider`."""

    what: str
