"""The graph on a page: the picture in a box that scrolls, and beside it a table that says the same:
nodes, edges, states, and each role's output.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from uwf_core.markup import Child, Markup, join, tag
from uwf_web.graph.shape import GraphEdge, GraphNode, anchor, shape_of
from uwf_web.graph.states import SYMBOLS, NodeStatus, NodeVisit, graph_status
from uwf_web.graph.svg import Drawing, graph_svg

_ENDS: Final = {
    "$START": "where a thread begins",
    "$END": "the thread is complete",
    "$SUSPEND": "a person is asked",
}
_SHOWN: Final = 12


def graph_table(
    drawing: Drawing, roles: Mapping[str, Mapping[str, Any]], link_to: Callable[[NodeVisit], str]
) -> Markup:
    """The table.

    Args:
        drawing: what the picture shows.
        roles: of the workflow's document.
        link_to: the URL of a visit.
    """
    heads = ["Node", "Leads to"] if drawing.status is None else ["Node", "State", "Leads to"]
    rows = [_row(drawing, node, roles.get(node.name), link_to) for node in drawing.shape.nodes]
    return tag(
        "table",
        tag("caption", "Nodes and edges of the graph", class_="unseen"),
        tag("thead", tag("tr", *(tag("th", each, scope="col") for each in heads))),
        tag("tbody", *rows),
        class_="graph-table",
    )


def _row(
    drawing: Drawing,
    node: GraphNode,
    role: Mapping[str, Any] | None,
    link_to: Callable[[NodeVisit], str],
) -> Markup:
    head = tag(
        "th",
        tag("code", node.name),
        tag("span", f" {node.detail or _ENDS.get(node.name, '')}", class_="soft"),
        _about(node, role),
        scope="row",
    )
    leads = [each for each in drawing.shape.edges if each.source == node.name]
    cells: list[Child] = [head]
    if drawing.status is not None:
        status = drawing.status.node(node.name)
        cells.append(tag("td", _state(status, link_to), data_state=node.name))
    cells.append(tag("td", tag("ul", *_edges(drawing, leads)) if leads else None))
    return tag("tr", *cells, id=anchor(node.name), tabindex="-1")


def _about(node: GraphNode, role: Mapping[str, Any] | None) -> Markup | None:
    """What the tooltip of a node shows, too: the description and the fields of the output."""
    if role is None:
        return None
    description = str(role.get("description") or role.get("goal") or "")
    fields = tag(
        "ul", *(tag("li", tag("code", line)) for line in schema_lines(role["frontmatter"]))
    )
    return tag(
        "div",
        tag("p", description) if description else None,
        fields,
        class_="about",
        id=f"{anchor(node.name)}-about",
    )


def _state(status: NodeStatus, link_to: Callable[[NodeVisit], str]) -> Markup:
    words = "runs next" if status.is_next else "" if status.state == "default" else status.state
    visits = list(enumerate(status.visits, 1))
    left_out = len(visits) - _SHOWN
    first, last = (visits, []) if left_out <= 0 else (visits[:2], visits[2 - _SHOWN :])

    def links(some: list[tuple[int, NodeVisit]]) -> list[Markup]:
        return [
            tag("a", f"step {visit.number}" if visit.step else f"thread {place}",
                href=link_to(visit))
            for place, visit in some
        ]  # fmt: skip

    shown: list[Child] = [*links(first)]
    if left_out > 0:
        shown += [f"… {left_out} more …", *links(last)]
    parts: list[Child] = [
        tag("span", f"{SYMBOLS[status.state]} {words}".strip(), class_=status.state)
    ]
    for each in shown:
        parts += [" ", each]
    return join(*parts)


def _edges(drawing: Drawing, edges: list[GraphEdge]) -> Iterator[Markup]:
    for edge in edges:
        for status in edge.statuses or ("",):
            count = 0
            if drawing.status is not None:
                count = drawing.status.taken.get((edge.source, status), 0)
            way = "runs" if edge.is_branch else "→"
            loops = " (itself)" if edge.source == edge.target else ""
            yield tag(
                "li",
                join(tag("code", status), " ") if status else None,
                f"{way} ",
                tag("a", edge.target, href=f"#{anchor(edge.target)}"),
                loops,
                tag("b", f" ×{count}") if count else None,
            )


def schema_lines(schema: Any) -> list[str]:
    """The fields of a role's output, a line for each status: `done: summary, files? (list)`."""
    if not isinstance(schema, Mapping):
        return []
    for word in ("oneOf", "anyOf"):
        if isinstance(schema.get(word), list):
            rest = {key: value for key, value in schema.items() if key != word}
            return [line for each in schema[word] for line in schema_lines({**rest, **each})]
    properties, required = schema.get("properties", {}), schema.get("required", ())
    fields = [
        name + ("" if name in required else "?") + _type(each)
        for name, each in properties.items()
        if name != "$status"
    ]
    fixed = properties.get("$status")
    status = str(fixed.get("const", "…")) if isinstance(fixed, Mapping) else "…"
    return [f"{status}: {', '.join(fields)}" if fields else status]


def _type(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if kind in (None, "string"):
        return ""
    return f" ({kind if isinstance(kind, str) else json.dumps(kind)})"


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
