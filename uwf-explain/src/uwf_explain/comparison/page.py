"""`thread diff` as one static page, side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from uwf_core.markup import Markup, join, tag
from uwf_core.views.lines import Line, line_diff, shown
from uwf_explain.comparison.figures import figure, place, totals
from uwf_explain.html_page import page

_STYLE = """\
table.sides { table-layout: fixed; } table.sides th:first-child { width: 9rem; }
table.lines { table-layout: fixed; margin: .3rem 0 1rem; font-size: .85rem; }
table.lines td { white-space: pre-wrap; padding: .05rem .5rem; border: 0;
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
td.gone { background: var(--gone); } td.new { background: var(--new); }
"""
_CONTEXT = 3
"""How many equal lines are shown around those that differ."""


def diff_page(document: Mapping[str, Any]) -> str:
    """The page of a comparison. It needs no network and runs no script."""
    title = f"thread diff {document['a']['thread']} {document['b']['thread']}"
    return page(
        title,
        tag("h1", "Two threads compared"),
        diff_markup(document),
        tag("footer", "Written by ", tag("code", f"uwf {title}"), ". ", _NOTE),
        style=_STYLE,
    )


def diff_markup(document: Mapping[str, Any]) -> Markup:
    """The comparison, as a part of a page whose style has the classes of this one."""
    common = document["commonSteps"]
    rows: Sequence[Mapping[str, Any]] = document["rows"]
    return join(
        _threads(document),
        _first(document),
        _overview(rows, common),
        *(_step(row) for row in rows[common:]),
        tag("h2", "Totals"),
        _table(["", "A", "B", "B − A"], list(totals(document)), number=1),
    )


_NOTE = (
    "Each step is named by the reference of its node; `uwf step show REFERENCE` prints it. Times, "
    "sessions, ids, agents and usage are shown, but do not count as a divergence."
)


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[Any]], *, number: int = 0, class_: str = "sides"
) -> Markup:
    """A table whose first column names the row; cells from `number` on are numbers if it is > 0."""

    def cell(index: int, content: Any) -> Markup:
        if index == 0:
            return tag("th", content, scope="row")
        return tag("td", content, class_="number" if 0 < number <= index else None)

    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    body = (tag("tr", *(cell(index, each) for index, each in enumerate(row))) for row in rows)
    return tag("table", tag("thead", head), tag("tbody", *body), class_=class_)


def _threads(document: Mapping[str, Any]) -> Markup:
    sides = [document[name] for name in ("a", "b")]
    rows = [
        ["thread", *(tag("code", side["thread"]) for side in sides)],
        [
            "workflow",
            *(join(side["workflowName"], " ", tag("code", side["workflow"])) for side in sides),
        ],
        ["task", *(tag("pre", side["task"]) for side in sides)],
        ["folder", *(side["cwd"] for side in sides)],
        ["status", *(side["status"] for side in sides)],
    ]
    return _table(["", "A", "B"], rows)


def _first(document: Mapping[str, Any]) -> Markup:
    found = document["divergence"]
    if found is None:
        return tag("p", "No divergence: all steps are the same.", class_="headline")
    also = f"Also different there: {', '.join(found['also'])}." if found["also"] else None
    return join(
        tag("h2", "First divergence"),
        tag("p", found["sentence"], class_="headline"),
        lines_markup(found["a"], found["b"]),
        tag("p", also, class_="soft") if also else None,
    )


def _overview(rows: Sequence[Mapping[str, Any]], common: int) -> Markup:
    heads = ["role", "A", "B", "different"]
    same = tag(
        "details",
        tag("summary", f"{common} common steps"),
        _table(heads, [_summary(row) for row in rows[:common]]),
    )
    rest = _table(heads, [_summary(row) for row in rows[common:]])
    return join(tag("h2", "Steps"), same if common else None, rest if len(rows) > common else None)


def _summary(row: Mapping[str, Any]) -> list[Any]:
    name = row["role"]
    is_whole = bool(row["differences"]) or row["a"] is None or row["b"] is None
    link = tag("a", name, href=f"#{_anchor(row)}") if is_whole else name
    return [link, _cell(row["a"]), _cell(row["b"]), _different(row)]


def _cell(side: Mapping[str, Any] | None) -> Markup | str:
    if side is None:
        return "–"
    return join(f"{side['number']}: {side['status']} → {side['route']} ", tag("code", side["step"]))


def _different(row: Mapping[str, Any]) -> str:
    if row["shared"]:
        return "the same node"
    if row["a"] is None or row["b"] is None:
        return f"only in {'A' if row['b'] is None else 'B'}"
    return ", ".join(map(place, row["differences"])) or "–"


def _anchor(row: Mapping[str, Any]) -> str:
    return f"step-{row['role']}-{row['visit']}"


def _step(row: Mapping[str, Any]) -> Markup | None:
    sides = [row["a"], row["b"]]
    if not row["differences"] and None not in sides:
        return None
    return join(
        tag("h3", _heading(row), id=_anchor(row)),
        _table(["", "A", "B"], list(_facts(sides))),
        *(
            join(tag("p", place(found), class_="soft"), lines_markup(found["a"], found["b"]))
            for found in row["differences"]
        ),
        _whole(sides),
    )


def _heading(row: Mapping[str, Any]) -> str:
    numbers = [side["number"] if side else None for side in (row["a"], row["b"])]
    if numbers[0] == numbers[1]:
        return f"Step {numbers[0]}: {row['role']}"
    named = zip(numbers, "AB", strict=True)
    places = (f"step {number} in {name}" for number, name in named if number)
    return f"S{', '.join(places)[1:]}: {row['role']}"


def _facts(sides: Sequence[Mapping[str, Any] | None]) -> Iterator[list[Any]]:
    """The facts of a step, and what it cost, on each side, without those that say nothing."""
    for name, value in _FACTS.items():
        cells = [None if side is None else value(side) for side in sides]
        if any(each not in _SAYS_NOTHING for each in cells):
            yield [name, *("–" if each is None else each for each in cells)]


_SAYS_NOTHING = (None, "none", "0", "–", "–, –")


_FACTS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "step": lambda side: tag("code", side["step"]),
    "status": lambda side: f"{side['status']} → {side['route']}",
    "agent": lambda side: " ".join(filter(None, (side["alias"] or side["agent"], side["model"]))),
    "session": lambda side: side["session"] or "–",
    "folder": lambda side: side["cwd"],
    "failed attempts": lambda side: ", ".join(side["attempts"]) or "none",
    "corrections": lambda side: str(side["corrections"]),
    "time": lambda side: figure(side, "durationMs"),
    "tokens in, out": lambda side: f"{figure(side, 'inputTokens')}, {figure(side, 'outputTokens')}",
    "cost": lambda side: figure(side, "costUsd"),
}


def _whole(sides: Sequence[Mapping[str, Any] | None]) -> Markup:
    """The instruction, the output and the text of both sides."""
    rows = [
        [name, *(tag("pre", shown(side[key])) if side else "–" for side in sides)]
        for name, key in (("instruction", "instruction"), ("output", "output"), ("text", "text"))
    ]
    return tag(
        "details",
        tag("summary", "instruction, output and text"),
        _table(["", "A", "B"], rows),
    )


def lines_markup(a: Any, b: Any) -> Markup:
    """Two values side by side, line by line; long equal parts are left out."""
    rows = list(_line_rows(_without_context(line_diff(a, b))))
    body = (
        tag("tr", tag("td", left, class_="gone" if is_changed and left is not None else None),
            tag("td", right, class_="new" if is_changed and right is not None else None))
        for left, right, is_changed in rows
    )  # fmt: skip
    return tag("table", tag("tbody", *body), class_="lines")


def _without_context(lines: Sequence[Line]) -> Iterator[Line]:
    changed = [index for index, line in enumerate(lines) if line.mark != "="]
    near = {at for index in changed for at in range(index - _CONTEXT, index + _CONTEXT + 1)}
    before = -1
    for index, line in enumerate(lines):
        if index in near:
            if index != before + 1:
                yield Line("=", 0, "…")
            before = index
            yield line


def _line_rows(
    lines: Iterator[Line],
) -> Iterator[tuple[str | None, str | None, bool]]:
    """Lines of A and B that were exchanged for each other are in one row."""
    gone: list[str] = []
    new: list[str] = []
    for line in lines:
        if line.mark == "=" or (line.mark == "-" and new):
            yield from ((*pair, True) for pair in zip_longest(gone, new))
            gone, new = [], []
        if line.mark == "=":
            yield line.text, line.text, False
        else:
            (gone if line.mark == "-" else new).append(line.text)
    yield from ((*pair, True) for pair in zip_longest(gone, new))
