"""The cycles of a directed graph, and its longest walks. Without recursion: graphs may be deep."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from uwf_core.cas.walk import reached

Targets = Mapping[str, Sequence[str]]
"""The targets of each node."""


def components(roots: Iterable[str], after: Targets) -> list[list[str]]:
    """The strongly connected components that `roots` reach; edges lead to later ones only."""
    finished = list(_postorder(roots, after))
    before: dict[str, list[str]] = {name: [] for name in finished}
    for name in finished:
        for target in after[name]:
            before[target].append(name)
    found: list[list[str]] = []
    placed: set[str] = set()
    for name in reversed(finished):
        if name not in placed:
            members = list(_postorder([name], before, placed))
            found.append(members)
    return found


def _postorder(roots: Iterable[str], after: Targets, seen: set[str] | None = None) -> Iterator[str]:
    """Every node that `roots` reach and that is not in `seen`, after its targets."""
    seen = set() if seen is None else seen
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(after[root]))]
        while stack:
            name, rest = stack[-1]
            target = next((each for each in rest if each not in seen), None)
            if target is None:
                stack.pop()
                yield name
            else:
                seen.add(target)
                stack.append((target, iter(after[target])))


def longest(after: Targets, weights: Mapping[str, float]) -> dict[str, float]:
    """The weight of the longest walk from each node, infinite if it can repeat a weight."""
    endless = float("inf")
    found: dict[str, float] = {}
    for members in reversed(components(after, after)):
        weight = max(weights[name] for name in members)
        if weight and (len(members) > 1 or members[0] in after[members[0]]):
            weight = endless
        beyond = max((found.get(to, 0) for name in members for to in after[name]), default=0)
        total = endless if endless in (weight, beyond) else weight + beyond
        found.update(dict.fromkeys(members, total))
    return found


def discovered(first: str, after: Targets) -> list[str]:
    """The nodes that `first` reaches, the nearest first."""
    return list(reached([first] if first in after else [], after.__getitem__))


def shortest_cycle(name: str, after: Targets) -> list[str]:
    """The nodes of a shortest cycle, from `name`; empty if there is none."""
    came: dict[str, str] = {}
    for each in (order := [name]):  # grows: breadth first
        for target in after[each]:
            if target == name:
                path = [each]
                while path[-1] != name:
                    path.append(came[path[-1]])
                return path[::-1]
            if target not in came:
                came[target] = each
                order.append(target)
    return []
