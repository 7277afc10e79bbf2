"""The page of what each capability costs: lines of code and files."""

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.size import Counted, modules, texts
from generate.tables import table

ROOT = Path(__file__).resolve().parents[2]
INTRODUCTION = """\
# What each capability costs

Lines of code without blank lines, comments and docstrings; templates and SQL included, generated
files (`generated.py`) left out. `python -m benchmarks.size --check`, which decides over merges,
holds each room to its recorded figure (`benchmarks/sum.json`): a figure goes down, or up in a
commit that names the capability it buys.
"""


def markdown() -> str:
    """The whole page."""
    found: list[Counted] = [*modules(ROOT), *texts(ROOT)]
    places = json.loads((ROOT / "benchmarks" / "capabilities.json").read_text("utf-8"))
    left, rows = list(found), []
    for capability, prefixes in places.items():
        own = [each for each in left if _place(each).startswith(tuple(prefixes))]
        left = [each for each in left if each not in own]
        if own:
            rows.append((capability, *_figures(own)))
    for distribution in sorted({each.distribution for each in left}):
        own = [each for each in left if each.distribution == distribution]
        rows.append((f"`{distribution}`", *_figures(own)))
    rows.append(("all", *_figures(found)))
    return f"{INTRODUCTION}\n{table(('capability', 'lines', 'files'), rows)}\n"


def _place(counted: Counted) -> str:
    """Its path without `src/<package>`."""
    distribution, _, _, *rest = counted.name.split("/")
    return "/".join((distribution, *rest))


def _figures(found: Sequence[Counted]) -> tuple[str, str]:
    return f"{sum(each.code_lines for each in found):,}", f"{len(found):,}"
