"""What templates call to show a part of a document; each is imported on its first use."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup


def workflow_graph(workflow: Mapping[str, Any]) -> Markup:
    """The graph of a workflow document."""
    from uwf_web.graph.box import workflow_graph as draw

    return Markup(draw(workflow))


def workflow_picture(workflow: Mapping[str, Any]) -> Markup:
    """The picture of a workflow alone."""
    from uwf_web.graph.box import workflow_picture as draw

    return Markup(draw(workflow))


def node_anchor(role: str) -> str:
    """The id of a role's row beside its graph."""
    from uwf_web.graph.shape import anchor

    return anchor(role)


def thread_diff(document: Mapping[str, Any]) -> Markup:
    """Two compared threads."""
    from uwf_core.views.diff.page import diff_markup

    return Markup(diff_markup(document))


def value_diff(a: Any, b: Any) -> Markup:
    """The lines of two values that differ."""
    from uwf_core.views.diff.page import lines_markup

    return Markup(lines_markup(a, b))


def eval_report(document: Mapping[str, Any]) -> Markup:
    """The report of an evaluation."""
    from uwf_core.api.fields import read_record
    from uwf_eval.report.html.page import report_parts
    from uwf_eval.report.summary import Report

    *parts, _foot = report_parts(read_record(Report, document))
    return Markup("".join(parts))


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


FILTERS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        eval_report, node_anchor, thread_diff, value_diff, versions, workflow_graph,
        workflow_picture,
    )
}  # fmt: skip
