"""The graph on a page: the picture in a box that scrolls, and beside it the table."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from uwf_core.markup import Markup, tag
from uwf_web.graph.shape import GraphNode, anchor, shape_of
from uwf_web.graph.states import NodeVisit, graph_status
from uwf_web.graph.svg import Drawing, graph_svg
from uwf_web.graph.table import graph_table


def workflow_graph(workflow: Mapping[str, Any]) -> Markup:
    """The graph of a workflow, from the document of `workflow show`; a node leads to its row."""
    drawing = Drawing(
        shape_of(workflow),
        f"Graph of the workflow {workflow['name']}",
        lambda node: f"#{anchor(node.name)}",
    )
    return _box(drawing, workflow["roles"], lambda visit: "")


def thread_graph(
    workflow: Mapping[str, Any],
    thread: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    base: str = "",
) -> Markup:
    """The graph of a thread with what it did; a node leads to its last step, else to its row.

    Args:
        workflow, thread, steps: the documents of `workflow show`, `thread show`, `step list`.
        base: the base path of the site.
    """
    roles = workflow["roles"]
    called = {
        roles[each["role"]]["workflow"]: each["workflowName"]
        for each in thread["children"]
        if each["role"] in roles
    }
    shape = shape_of(workflow, called)
    status = graph_status(shape, thread, steps)

    def link_to(visit: NodeVisit) -> str:
        path = f"/threads/{quote(visit.thread)}"
        return base + (path if visit.step is None else f"{path}/steps/{quote(visit.step)}")

    def link_of(node: GraphNode) -> str:
        visits = status.node(node.name).visits
        return link_to(visits[-1]) if visits else f"#{anchor(node.name)}"

    title = f"Graph of the thread {thread['thread']}, {thread['status']}"
    return _box(Drawing(shape, title, link_of, status), roles, link_to)


def workflow_picture(workflow: Mapping[str, Any]) -> Markup:
    """The picture of a workflow without the table and without links, beside its text."""
    title = f"Graph of the workflow {workflow['name']}"
    picture = graph_svg(Drawing(shape_of(workflow), title, lambda node: None))
    # Without links, only the box itself can take the focus of who scrolls with the keyboard.
    return tag("div", picture, class_="graph-box", tabindex="0", role="region", aria_label="Graph")


def _box(drawing: Drawing, roles: Mapping[str, Any], link_to: Any) -> Markup:
    picture = tag("div", graph_svg(drawing), class_="graph-box", data_live="graph")
    table = tag("div", graph_table(drawing, roles, link_to), class_="graph-words")
    return tag("div", picture, table, class_="graph-pair")
