"""The layer of each node: the longest way from the first node, without back edges."""

from collections.abc import Sequence

Arc = tuple[int, int]
"""The numbers of the nodes at the start and the end of an edge."""


def layers(count: int, arcs: Sequence[Arc]) -> tuple[list[int], set[int]]:
    """The layer of each of `count` nodes, and the numbers of the back edges among `arcs`.

    The search begins at node 0 and takes arcs in their order; an arc to a node on the way to its
    source is a back edge. Loops (source is target) are neither followed nor back edges.
    """
    out: list[list[int]] = [[] for _ in range(count)]
    for number, (source, target) in enumerate(arcs):
        if source != target:
            out[source].append(number)
    order, back = _search(count, arcs, out)
    layer = [0] * count
    for node in order:
        for number in out[node]:
            if number not in back:
                target = arcs[number][1]
                layer[target] = max(layer[target], layer[node] + 1)
    return layer, back


def _search(
    count: int, arcs: Sequence[Arc], out: Sequence[Sequence[int]]
) -> tuple[list[int], set[int]]:
    """Nodes before all that they lead to, and the back edges. Depth first, without recursion."""
    finished: list[int] = []
    back: set[int] = set()
    is_open: dict[int, bool] = {}
    for root in range(count):
        stack = [] if root in is_open else [(root, iter(out[root]))]
        is_open.setdefault(root, True)
        while stack:
            node, rest = stack[-1]
            number = next(rest, None)
            if number is None:
                stack.pop()
                is_open[node] = False
                finished.append(node)
                continue
            target = arcs[number][1]
            if target not in is_open:
                is_open[target] = True
                stack.append((target, iter(out[target])))
            elif is_open[target]:
                back.add(number)
    return finished[::-1], back
