"""What templates call to show a part of a document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from uwf_core.errors import UsageError
from uwf_core.fields.records import read_record
from uwf_web.page import named

DRAWN: Mapping[str, str] = {
    "eval_report": "uwf_web.filters:report",
    "markdown": "uwf_web.markdown:to_html",
    "node_anchor": "uwf_web.graph.shape:anchor",
    "thread_diff": "uwf_explain.comparison.page:diff_markup",
    "thread_graph": "uwf_web.graph.table:thread_graph",
    "value_diff": "uwf_explain.comparison.page:lines_markup",
    "workflow_graph": "uwf_web.graph.table:workflow_graph",
    "workflow_picture": "uwf_web.graph.table:workflow_picture",
}
"""The filters that make HTML, each imported on its first use."""


def drawing(target: str) -> Callable[..., Markup]:
    """The filter that a text names."""
    return lambda *given: Markup(named(target)(*given))


def edges(of_role: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The edges of a role in a workflow document: those of branches, and of what follows them, as
    well.
    """
    found: list[dict[str, Any]] = []
    for status, edge in of_role.items():
        if "then" not in edge:
            found.append({"status": status, "role": edge["role"], "prompt": edge.get("prompt")})
            continue
        branches = edge.get("parallel") or {"": edge}
        for name, branch in branches.items():
            path = f"{status}/{name}" if name else status
            found.append({"status": path, "role": branch["role"], "prompt": branch.get("prompt")})
        found += [
            {**each, "status": f"{status}, then {each['status']}"} for each in edges(edge["then"])
        ]
    return found


def report(document: Mapping[str, Any]) -> str:
    """The report of an evaluation."""
    from uwf_eval.report.html.page import report_parts
    from uwf_eval.report.summary import Report

    *parts, _foot = report_parts(read_record(Report, document))
    return "".join(parts)


def versions(threads: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The versions of a workflow that threads ran, newest first, with how often and when last."""
    found: dict[str, dict[str, Any]] = {}
    for row in threads:
        known = found.setdefault(
            row["workflow"], {"workflow": row["workflow"], "threads": 0, "lastMs": 0}
        )
        known["threads"] += 1
        known["lastMs"] = max(known["lastMs"], row["startedAtMs"])
    return [each for ref, each in found.items() if ref]


STEPS = 50
"""So many steps are on one page of a thread."""
MOST_DIGITS = 9


class Window(NamedTuple):
    """The rows of a long list that a page shows. Rows are counted from 1.

    Attributes:
        rows: oldest first.
        last: the newest row shown; 0 if the list is empty.
        total: all rows.
    """

    rows: Sequence[Mapping[str, Any]]
    last: int
    total: int

    @property
    def first(self) -> int:
        """The oldest row shown."""
        return self.last - len(self.rows) + 1

    @property
    def older(self) -> int:
        """The newest row of the page with older ones; 0 if there is none."""
        return self.first - 1

    @property
    def newer(self) -> int:
        """The newest row of the page with newer ones; 0 if there is none."""
        return min(self.last + STEPS, self.total) if self.last < self.total else 0


def step_window(rows: Sequence[Mapping[str, Any]], to: str | None) -> Window:
    """The rows up to the row `to` of the query, by default the newest. A row without a step, such
    as the start of a thread, is not counted and not shown.

    Raises:
        UsageError: `to` is not the number of a row.
    """
    taken = [row for row in rows if row["step"] and row.get("number") != 0]
    last = len(taken)
    if to:
        if not (to.isascii() and to.isdecimal() and 0 < len(to) <= MOST_DIGITS and int(to)):
            raise UsageError(f"{to!r} is not the number of a step", hint="begin at the newest step")
        last = min(int(to), last)
    return Window(taken[max(last - STEPS, 0) : last], last, len(taken))


def steps_of(sections: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The steps that have a section."""
    return frozenset(each["step"] for each in sections if each["step"])


FILTERS: Mapping[str, Callable[..., Any]] = {
    "edges": edges, "step_window": step_window, "steps_of": steps_of, "versions": versions,
    **{name: drawing(target) for name, target in DRAWN.items()},
}  # fmt: skip
