"""The parts of plots: SVG with x in percent, so that text keeps its size at any width."""

from collections.abc import Sequence
from typing import Final

from uwf_core.markup import Markup, join, tag

TONES: Final = 6
"""The number of colours; further configurations repeat them with other shapes."""
_SHAPES: Final = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z", "M-5 -5H5V5H-5Z", "M0 -6.5L6.5 0L0 6.5L-6.5 0Z",
    "M0 -6L6 5H-6Z", "M0 6L6 -5H-6Z", "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
)  # fmt: skip
_STRIP: Final = 24


def tone(number: int | None) -> str:
    """The colour class of a configuration; None: of several."""
    return "tones" if number is None else f"tone{number % TONES}"


def at(share: float) -> str:
    """A position on the x axis, or a length along it."""
    return f"{max(0.0, min(1.0, share)) * 100:.2f}%".replace(".00%", "%")


def symbol(number: int | None, x: str, y: str, *, faint: bool = False, label: str = "") -> Markup:
    """A point with the shape and colour of a configuration."""
    nth = number or 0
    shape = _SHAPES[(nth + nth // TONES) % len(_SHAPES)]
    mark = tag("path", tag("title", label) if label else None, d=shape)
    class_ = f"point {tone(number)}{' faint' if faint else ''}"
    return tag("svg", mark, x=x, y=y, class_=class_, overflow="visible", width=1, height=1)


def key(mark: int | str) -> Markup:
    """The mark before a name: the symbol of a configuration, or a swatch of this class."""
    if isinstance(mark, str):
        return tag("span", class_=f"swatch {mark}")
    return tag("svg", symbol(mark, "8", "8"), class_="key", width=16, height=16, aria_hidden="true")


def picture(title: str, description: str, *content: Markup, class_: str, height: int) -> Markup:
    """A plot with a description in words."""
    words = join(tag("title", title), tag("desc", description))
    return tag("svg", words, *content, class_=class_, role="img", height=height, width="100%")


def strip(
    number: int | None, value: float | None, low: float | None, high: float | None, title: str
) -> Markup:
    """A value from 0 to 1 with its interval, over the lines of the scale."""
    middle = _STRIP // 2
    parts = [
        tag("line", x1=at(place), x2=at(place), y1=0, y2=_STRIP, class_="grid")
        for place in (0, 0.25, 0.5, 0.75, 1)
    ]
    if low is not None and high is not None:
        class_ = f"interval {tone(number)}"
        parts.append(tag("line", x1=at(low), x2=at(high), y1=middle, y2=middle, class_=class_))
        parts += [
            tag("line", x1=at(end), x2=at(end), y1=middle - 4, y2=middle + 4, class_=class_)
            for end in (low, high)
        ]  # fmt: skip
    if value is not None:
        parts.append(symbol(number, at(value), str(middle)))
    description = "A point with its 95 % interval on a scale from 0 to 1."
    return picture(title, description, *parts, class_="strip", height=_STRIP)


def scale() -> Markup:
    """The labels of the strips' scale."""
    places = ((0, "start", "0"), (0.5, "middle", "0.5"), (1, "end", "1"))
    labels = [
        tag("text", word, x=at(place), y=12, text_anchor=anchor, class_="tick")
        for place, anchor, word in places
    ]
    title, description = "Scale", "The scale of the points below, from 0 to 1."
    return picture(title, description, *labels, class_="strip scale", height=16)


def bar(parts: Sequence[tuple[float, str]], title: str) -> Markup:
    """Stacked lengths, each a share of the whole width and a class."""
    begin, rects = 0.0, []
    for share, class_ in parts:
        if share > 0:
            rects.append(
                tag("rect", x=at(begin), y=3, width=at(share), height=12, class_=f"bar {class_}")
            )
        begin += share
    return picture(title, "Lengths along one bar.", *rects, class_="bars", height=18)
