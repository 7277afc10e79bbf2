"""The errors in a definition, one per line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.cli.render.style import Screen


def problem_lines(problems: Sequence[Mapping[str, Any]], screen: Screen) -> Iterator[str]:
    """`file:line:column code message` of each error, with the hint below."""
    for each in problems:
        place = f"{each['file']}:{each['line']}:{each['column']}"
        severity = str(each.get("severity") or "error")
        mark = " (warning)" if severity == "warning" else ""
        yield f"{place} {screen.paint(each['code'], severity)} {each['message']}{mark}"
        if each.get("hint"):
            yield f"  hint: {each['hint']}"
