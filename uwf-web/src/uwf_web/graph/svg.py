"""A graph as SVG: nodes are links, states have symbols, colours come from the page's variables."""

from collections.abc import Callable
from typing import Final, NamedTuple

from uwf_core.commands import cells, fit
from uwf_core.markup import Markup, join, tag
from uwf_web.graph.layout import LOOP, Layout, Path, Rectangle, layout
from uwf_web.graph.rows import Line, Size
from uwf_web.graph.shape import GraphEdge, GraphNode, Shape, anchor
from uwf_web.graph.states import SYMBOLS, GraphStatus, NodeStatus

_CELL: Final = 7.9
"""The width of a character of the node's font: 13 px, monospaced, with some room."""
_SMALL: Final = 6.8
_LINE: Final = 16.0
_NODE_HEIGHT: Final = 46.0
_END_HEIGHT: Final = 30.0
_LONGEST: Final = 30
MOST_NODES: Final = 120
MOST_EDGES: Final = 400
"""Nobody reads a larger picture, and it would keep the page waiting."""
_ROOM: Final = 5
"""Characters that visits may take in a label, so that a count moves nothing."""


class Drawing(NamedTuple):
    """What is drawn. `link_of`: the URL of a node, or None; `status`: None for a workflow alone."""

    shape: Shape
    title: str
    link_of: Callable[[GraphNode], str | None]
    status: GraphStatus | None = None


def graph_svg(drawing: Drawing) -> Markup:
    """The picture. It scrolls inside its box; its text is in the table beside it, too."""
    shape = drawing.shape
    if len(shape.nodes) > MOST_NODES or len(shape.edges) > MOST_EDGES:
        return tag("p", "The graph is too large for a picture; the table has all of it.")
    numbers = {node.name: number for number, node in enumerate(shape.nodes)}
    edges = [edge for edge in shape.edges if edge.source in numbers and edge.target in numbers]
    room = 0 if drawing.status is None else _ROOM
    lines = [
        Line(numbers[edge.source], numbers[edge.target], _label_size(edge, room)) for edge in edges
    ]
    placed = layout([_node_size(node) for node in shape.nodes], lines)
    return tag(
        "svg",
        tag("title", drawing.title, id="graph-title"),
        tag("desc", "The table of nodes and edges has the same content.", id="graph-text"),
        _drawn_edges(drawing, edges, placed),
        *(_node(drawing, *each) for each in zip(shape.nodes, placed.nodes, strict=True)),
        class_="graph",
        role="group",
        aria_labelledby="graph-title",
        aria_describedby="graph-text",
        width=placed.size.width,
        height=placed.size.height,
        viewBox=f"0 0 {placed.size.width:.1f} {placed.size.height:.1f}",
    )


def _short(text: str) -> str:
    """A text that fits; the table has all of it."""
    return fit(text, _LONGEST)


def _node_size(node: GraphNode) -> Size:
    name = cells(_short(node.name)) + (0 if node.kind in _PILLS else 4)
    detail = cells(_short(node.detail))
    width = max(name * _CELL, detail * _SMALL, 60.0) + 24
    return Size(width, _END_HEIGHT if node.kind in _PILLS else _NODE_HEIGHT)


_PILLS: Final = ("start", "end", "suspend")


def _label_size(edge: GraphEdge, room: int) -> Size:
    widest = max((cells(_short(each)) for each in edge.statuses), default=0)
    count = len(edge.statuses) or (1 if room else 0)
    if not count:
        return Size(0, 0)
    return Size((widest + room) * _SMALL + 8, count * _LINE + 2)


def _drawn_edges(drawing: Drawing, edges: list[GraphEdge], placed: Layout) -> Markup:
    """Lines first, then labels, so that no line crosses a text."""
    taken = [_times(drawing, edge) for edge in edges]
    lines, labels = [], []
    for edge, times, path in zip(edges, taken, placed.paths, strict=True):
        words = ["line"]
        words += ["branch"] if edge.is_branch else []
        words += ["taken"] if any(times) else []
        lines.append(
            tag(
                "g",
                tag("path", d=_curve(path)),
                tag("path", d=_arrow(path), class_="head"),
                class_=" ".join(words),
            )
        )
        labels.append(_label(edge, times, path.label))
    return tag("g", *lines, *labels, aria_hidden="true")


def _times(drawing: Drawing, edge: GraphEdge) -> list[int]:
    if drawing.status is None:
        return [0 for _ in edge.statuses or ("",)]
    return [drawing.status.taken.get((edge.source, each), 0) for each in edge.statuses or ("",)]


def _label(edge: GraphEdge, times: list[int], box: Rectangle) -> Markup | None:
    if not box.height:
        return None
    texts = [
        tag(
            "text",
            _short(status),
            tag("tspan", f" ×{count}", class_="times") if count else None,
            x=box.x + box.width / 2,
            y=box.y + 1 + _LINE * (number + 0.74),
        )
        for number, (status, count) in enumerate(zip(edge.statuses or ("",), times, strict=True))
        if status or count
    ]
    ground = (
        tag("rect", x=box.x, y=box.y, width=box.width, height=box.height, rx=4.0) if texts else None
    )
    return tag("g", ground, *texts, class_="label taken" if any(times) else "label")


def _curve(path: Path) -> str:
    if path.is_loop:
        (x, top), (_, bottom) = path.points
        out = x + LOOP - 4
        return f"M{x:.1f} {top:.1f}C{out:.1f} {top - 10:.1f} {out:.1f} {bottom + 10:.1f} " + (
            f"{x + 7:.1f} {bottom:.1f}"
        )
    points = list(path.points)
    step = 7 if points[-1][1] > points[0][1] else -7
    points[-1] = (points[-1][0], points[-1][1] - step)
    words = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for number, (x, y) in enumerate(points[1:], 1):
        if number % 2:
            words.append(f"L{x:.1f} {y:.1f}")
            continue
        before, middle = points[number - 1], (points[number - 1][1] + y) / 2
        words.append(f"C{before[0]:.1f} {middle:.1f} {x:.1f} {middle:.1f} {x:.1f} {y:.1f}")
    return "".join(words)


def _arrow(path: Path) -> str:
    """A triangle at the end of an edge."""
    x, y = path.points[-1]
    if path.is_loop:
        return f"M{x:.1f} {y:.1f}l8 -4.5v9z"
    way = -9 if y > path.points[0][1] else 9
    return f"M{x:.1f} {y:.1f}l-4.5 {way}h9z"


def _node(drawing: Drawing, node: GraphNode, box: Rectangle) -> Markup:
    status = NodeStatus() if drawing.status is None else drawing.status.node(node.name)
    middle = box.x + box.width / 2
    symbol = SYMBOLS[status.state]
    name = join(tag("tspan", f"{symbol} ", class_="symbol") if symbol else None, _short(node.name))
    if node.kind in _PILLS:
        texts = [tag("text", name, x=middle, y=box.y + box.height / 2 + 4.5, class_="name")]
    else:
        texts = [
            tag("text", name, x=middle, y=box.y + 19.5, class_="name"),
            Markup(" "),  # between the words of the link's name
            tag("text", _second(node, status), x=middle, y=box.y + 36.0, class_="detail"),
        ]
    body = join(_outline(node, box), *texts)
    words = f"node {node.kind} {status.state}{' next' if status.is_next else ''}"
    link = drawing.link_of(node)
    if link is None:
        return tag("g", body, class_=words)
    return tag(
        "a",
        body,
        href=link,
        class_=words,
        data_node=node.name,
        data_anchor=anchor(node.name),
    )


def _second(node: GraphNode, status: NodeStatus) -> str:
    count = len(status.visits)
    if status.is_next:
        return "runs next" + (f" · ×{count}" if count else "")
    if status.state == "default":
        return _short(node.detail)
    return status.state + (f" · ×{count}" if count else "")


def _outline(node: GraphNode, box: Rectangle) -> Markup:
    """The shape of who plays the role."""
    x, y, width, height = box
    right, bottom = x + width, y + height
    if node.kind == "program":
        d = f"M{x + 12:.1f} {y:.1f}H{right - 12:.1f}L{right:.1f} {y + height / 2:.1f}"
        d += f"L{right - 12:.1f} {bottom:.1f}H{x + 12:.1f}L{x:.1f} {y + height / 2:.1f}z"
        return tag("path", d=d, class_="outline")
    if node.kind == "human":
        d = f"M{x + 10:.1f} {y:.1f}H{right - 10:.1f}L{right:.1f} {bottom:.1f}H{x:.1f}z"
        return tag("path", d=d, class_="outline")
    rounded = {"start": 15.0, "end": 15.0, "branches": 22.0}.get(node.kind, 6.0)
    outline = tag("rect", x=x, y=y, width=width, height=height, rx=rounded, class_="outline")
    if node.kind != "workflow":
        return outline
    sides = f"M{x + 7:.1f} {y:.1f}V{bottom:.1f}M{right - 7:.1f} {y:.1f}V{bottom:.1f}"
    return join(outline, tag("path", d=sides, class_="sides"))
