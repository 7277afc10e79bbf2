"""`thread diff` as text: the sides, the first divergence, a row per step, the differences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.commands import Column, Screen, changed_lines, count, duration, table

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
        "cost": _both(a and _cost(a), b and _cost(b)),
        "time": _both(*(side and duration(side["durationMs"]) for side in (a, b))),
    }


def _both(a: str | None, b: str | None) -> str | None:
    """The values of both sides as one if they are equal or there is one side alone."""
    return a or b if None in (a, b) or a == b else f"{a} / {b}"


def _outcome(side: Mapping[str, Any]) -> str:
    marks = [f"{len(side['attempts'])} failed"] if side["attempts"] else []
    marks += [f"{side['corrections']} corrected"] if side["corrections"] else []
    return f"{side['status']}{' (' + ', '.join(marks) + ')' if marks else ''}"


def _cost(side: Mapping[str, Any]) -> str:
    return _known(side["usage"], "costUsd", _money(side["usage"]["costUsd"]))


def _place(found: Mapping[str, Any]) -> str:
    """An aspect with its part: `output why`, `prompt instruction`."""
    return f"{found['aspect']} {found['part']}" if found["part"] else str(found["aspect"])


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
        parts += [f"{_place(found)}{line}", *changed_lines(found["a"], found["b"], screen)]
    return "\n".join(part for part in parts if part)


def _totals(document: Mapping[str, Any], screen: Screen) -> str:
    columns = (
        Column("name", "TOTAL"),
        Column("a", "A", right=True),
        Column("b", "B", right=True),
        Column("difference", "B - A", right=True),
    )
    return table(columns, list(_total_rows(document)), screen)


def _total_rows(document: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    sides, difference = (document["a"], document["b"]), document["difference"]
    for key, name in (
        ("steps", "steps"),
        ("attempts", "failed attempts"),
        ("corrections", "corrections"),
    ):
        if any(side[key] for side in sides):
            yield _total(name, [str(side[key]) for side in sides], f"{difference[key]:+d}")
    change = difference["durationMs"]
    times = [duration(side["durationMs"]) for side in sides]
    yield _total("time", times, f"{'-' if change < 0 else '+'}{duration(abs(change))}")
    for key, name in (
        ("inputTokens", "tokens in"),
        ("cacheReadTokens", "tokens cached"),
        ("outputTokens", "tokens out"),
        ("costUsd", "cost"),
    ):
        if any(side["usage"][key] for side in sides):
            amount = _money if key == "costUsd" else count
            texts = [_known(side["usage"], key, amount(side["usage"][key])) for side in sides]
            change = difference[key]
            sign = "-" if change is not None and change < 0 else "+"
            yield _total(name, texts, "–" if change is None else sign + amount(abs(change)))


def _total(name: str, sides: Sequence[str], difference: str) -> dict[str, str]:
    return {"name": name, "a": sides[0], "b": sides[1], "difference": difference}


def _known(usage: Mapping[str, Any], key: str, text: str) -> str:
    return f"≥ {text}" if key in usage["atLeast"] else text


def _money(dollars: float | None) -> str:
    return "–" if dollars is None else f"${dollars:.4f}"
