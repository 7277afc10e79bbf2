"""The layout of graphs: no box lies on another, and no line crosses a box that it does not join.

`shapes.json` has the shapes of workflows of public repositories: of each node its fixed name or the
length of its name, of each edge the numbers of its nodes and the length of its status.
"""

import json
import time
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_web.graph.layout import Layout, Rectangle, layout
from uwf_web.graph.rows import Line, Size, layers
from uwf_web.graph.svg import MOST_EDGES, MOST_NODES

SHAPES = json.loads(Path(__file__).with_name("shapes.json").read_text("utf-8"))


def overlap(one: Rectangle, other: Rectangle, room: float = 0.0) -> bool:
    return (
        one.x < other.x + other.width + room
        and other.x < one.x + one.width + room
        and one.y < other.y + other.height + room
        and other.y < one.y + one.height + room
    )


def points_of(points: tuple[tuple[float, float], ...]):
    """Points along a path: vertical lines, and curves with vertical ends between them."""
    for number, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
        for part in range(17):
            t = part / 16
            if number % 2 == 0:
                yield x + (to_x - x) * t, y + (to_y - y) * t
            else:
                ease = t * t * (3 - 2 * t)
                middle = 3 * t * (1 - t) * (y + to_y) / 2
                yield x + (to_x - x) * ease, y * (1 - t) ** 3 + middle + to_y * t**3


def check(placed: Layout, lines: list[Line]) -> None:
    labels = [path.label for path in placed.paths if path.label.height]
    for one, other in combinations([*placed.nodes, *labels], 2):
        assert not overlap(one, other), (one, other)
    for line, path in zip(lines, placed.paths, strict=True):
        if path.is_loop:
            continue
        others = [box for n, box in enumerate(placed.nodes) if n not in (line.source, line.target)]
        others += [label for label in labels if label is not path.label]
        for x, y in points_of(path.points):
            for box in others:
                assert not (box.x < x < box.x + box.width and box.y < y < box.y + box.height), box
        (x, y), (end_x, end_y) = path.points[0], path.points[-1]
        source, target = placed.nodes[line.source], placed.nodes[line.target]
        assert source.x < x < source.x + source.width
        assert y in (source.y, source.y + source.height)
        assert target.x < end_x < target.x + target.width
        assert end_y in (target.y, target.y + target.height)
    for box in (*placed.nodes, *labels):
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= placed.size.width
        assert box.y + box.height <= placed.size.height


@st.composite
def graphs(draw: st.DrawFn):
    count = draw(st.integers(1, 12))
    width, height = st.integers(20, 260), st.sampled_from([30, 46])
    nodes = [Size(draw(width), draw(height)) for _ in range(count)]
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    pairs = draw(st.lists(ends, max_size=3 * count, unique=True))
    lines = [
        Line(*pair, Size(draw(st.integers(0, 200)), draw(st.sampled_from([0, 18, 34, 50]))))
        for pair in pairs
    ]
    return nodes, lines


@given(graphs())
def test_nothing_overlaps_in_any_graph(graph):
    nodes, lines = graph
    check(layout(nodes, lines), lines)


@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_nothing_overlaps_in_the_shape_of_a_real_workflow(number: int):
    shape = SHAPES[number]
    lengths = [len(each) if isinstance(each, str) else each for each in shape["nodes"]]
    nodes = [Size(8.0 * length + 24, 46.0) for length in lengths]
    lines = [Line(a, b, Size(7.0 * length + 8, 18.0)) for a, b, length in shape["edges"]]
    check(layout(nodes, lines), lines)


@given(graphs())
def test_a_layer_is_the_longest_way_without_back_edges(graph):
    nodes, lines = graph
    arcs = [(line.source, line.target) for line in lines]
    layer, back = layers(len(nodes), arcs)
    forward = [arc for number, arc in enumerate(arcs) if number not in back and arc[0] != arc[1]]
    for node in range(len(nodes)):
        above = [layer[source] + 1 for source, target in forward if target == node]
        assert layer[node] == max(above, default=0)


@given(graphs())
def test_the_same_graph_is_always_drawn_the_same(graph):
    assert layout(*graph) == layout(*graph)


def test_a_large_graph_is_drawn_in_a_moment():
    nodes = [Size(100, 46)] * MOST_NODES
    ways = range(MOST_EDGES // MOST_NODES)
    lines = [
        Line(n, (n * 7 + way * way * 13 + 1) % MOST_NODES, Size(50, 18))
        for n in range(MOST_NODES)
        for way in ways
    ]
    began = time.process_time()
    layout(nodes, lines)
    assert time.process_time() - began < 5  # usually 0.4
