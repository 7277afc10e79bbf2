"""`thread diff` as text: the sides, the first divergence, a row per step, the differences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.commands import Column, Screen, changed_lines, duration, table
from uwf_explain.comparison.figures import figure, place, totals

_WIDE = 100


def thread_diff_text(document: Mapping[str, Any], screen: Screen, quota: int) -> str:
    """The comparison; the details of the steps within `quota` characters, at least one."""
    parts = [_sides(document, screen), _first(document, screen)]
    rows = document["rows"][document["commonSteps"] :]
    if rows:
        parts.append(_table(rows, screen))
    parts += _details([row for row in rows if row["differences"]], screen, quota)
    parts.append(_totals(document, screen))
    return "\n\n".join(part for part in parts if part)


def _sides(document: Mapping[str, Any], screen: Screen) -> str:
    rows = [
        {
            "side": name.upper(),
            "thread": side["thread"],
            "workflow": f"{side['workflowName']} ({side['workflow']})",
            "status": side["status"],
        }
        for name, side in ((name, document[name]) for name in ("a", "b"))
    ]
    columns = (
        Column("side", ""),
        Column("thread", "THREAD"),
        Column("status", "STATUS", status=True),
        Column("workflow", "WORKFLOW", least=8, rank=1),
    )
    return table(columns, rows, screen)


def _first(document: Mapping[str, Any], screen: Screen) -> str:
    found, common = document["divergence"], _common(document)
    if found is None:
        return "\n".join(filter(None, (common, screen.paint("no divergence", "ok"))))
    sentence = found["sentence"][0].lower() + found["sentence"][1:]
    lines = [common, screen.paint(f"first divergence: {sentence}", "bold")]
    if found["aspect"] not in _TOLD:
        lines += changed_lines(found["a"], found["b"], screen)
    if found["also"]:
        lines.append(f"also different there: {', '.join(found['also'])}")
    return "\n".join(filter(None, lines))


_TOLD = ("end", "workflow", "folder", "route", "role", "attempts")
"""Aspects whose values the sentence contains."""


def _common(document: Mapping[str, Any]) -> str:
    count, shared = document["commonSteps"], document["sharedSteps"]
    if not count:
        return ""
    steps = "step 1 is" if count == 1 else f"steps 1 to {count} are"
    if any("/" in row["role"] for row in document["rows"][:count]):
        steps = f"the first {count} steps, with those of called threads, are"
    nodes = "both threads share" + (" " if shared == count else f" {shared} of ")
    return f"{steps} the same" + (f" ({nodes}{'it' if count == 1 else 'them'})" if shared else "")


def _table(rows: Sequence[Mapping[str, Any]], screen: Screen) -> str:
    columns = (
        Column("a", "A", right=True),
        Column("b", "B", right=True),
        Column("role", "ROLE", least=6),
        Column("status", "STATUS", least=8),
        Column("differences", "DIFFERENT", least=16),
    )
    # A narrow screen needs its width for the differences; the totals have both sums.
    wide = (
        *([Column("cost", "COST", rank=1)] if any(map(_has_cost, rows)) else []),
        Column("time", "TIME", rank=2),
    )
    shown = (*columns, *wide) if screen.width >= _WIDE else columns
    return table(shown, [_cells(row) for row in rows], screen)


def _has_cost(row: Mapping[str, Any]) -> bool:
    return any(side and side["usage"]["costUsd"] for side in (row["a"], row["b"]))


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    a, b = row["a"], row["b"]
    aspects = ", ".join(dict.fromkeys(each["aspect"] for each in row["differences"])) or "–"
    return {
        "a": a and a["number"],
        "b": b and b["number"],
        "role": row["role"],
        "status": _both(a and _outcome(a), b and _outcome(b)),
        "differences": f"only in {'A' if b is None else 'B'}" if None in (a, b) else aspects,
        "cost": _both(*(side and figure(side, "costUsd") for side in (a, b))),
        "time": _both(*(side and duration(side["durationMs"]) for side in (a, b))),
    }


def _both(a: str | None, b: str | None) -> str | None:
    """The values of both sides as one if they are equal or there is one side alone."""
    return a or b if None in (a, b) or a == b else f"{a} / {b}"


def _outcome(side: Mapping[str, Any]) -> str:
    marks = [f"{len(side['attempts'])} failed"] if side["attempts"] else []
    marks += [f"{side['corrections']} corrected"] if side["corrections"] else []
    return f"{side['status']}{' (' + ', '.join(marks) + ')' if marks else ''}"


def _details(rows: Sequence[Mapping[str, Any]], screen: Screen, quota: int) -> Iterator[str]:
    size = 0
    for index, row in enumerate(rows):
        text = _detail(row, screen)
        if index and size + len(text) > quota:
            left = len(rows) - index
            steps = "1 further step differs" if left == 1 else f"{left} further steps differ"
            yield f"({steps}: --quota N shows more, -o FILE.html all)"
            return
        size += len(text)
        yield text


def _detail(row: Mapping[str, Any], screen: Screen) -> str:
    a, b = row["a"], row["b"]
    number = f"{a['number']}" if a["number"] == b["number"] else f"{a['number']} / {b['number']}"
    heading = f"step {number}, {row['role']} (A {a['step']}, B {b['step']})"
    parts = [screen.paint(heading, "bold")]
    for found in row["differences"]:
        line = f", line {found['line']}" if found["line"] else ""
        parts += [f"{place(found)}{line}", *changed_lines(found["a"], found["b"], screen)]
    return "\n".join(part for part in parts if part)


def _totals(document: Mapping[str, Any], screen: Screen) -> str:
    columns = (
        Column("name", "TOTAL"),
        Column("a", "A", right=True),
        Column("b", "B", right=True),
        Column("difference", "B - A", right=True),
    )
    keys = [column.key for column in columns]
    return table(columns, [dict(zip(keys, row, strict=True)) for row in totals(document)], screen)
