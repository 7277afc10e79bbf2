"""`python -m benchmarks.circles`: the modules of a room that import each other in a circle.

Every import counts: at the top, in a function, for the types alone. A room is a folder right below
a package. `--names` lists each circle.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.doors import imported
from benchmarks.figures import Figure, table
from benchmarks.size import Module, modules

LARGEST = 4


def circles(found: Iterable[Module]) -> dict[str, list[list[str]]]:
    """The circles of each room that has modules, the largest first."""
    rooms: dict[str, dict[str, Module]] = defaultdict(dict)
    for module in found:
        own = module.file.with_suffix("").parts
        own = own[own.index("src") + 1 :]
        rooms[".".join(own[:2])][".".join(own).removesuffix(".__init__")] = module
    return {
        room: sorted(_circles(_edges(inside)), key=len, reverse=True)
        for room, inside in sorted(rooms.items())
    }


def _edges(inside: Mapping[str, Module]) -> dict[str, set[str]]:
    """The modules of the same room that each imports."""
    return {
        own: {name for each in imported(module) for name in (each, each.rpartition(".")[0])}
        & inside.keys() - {own}
        for own, module in inside.items()
    }


def _circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    reached = {each: _reached(edges, each) for each in edges}
    found = {frozenset(to for to in reached[own] if own in reached[to]) for own in edges}
    return [sorted(each) for each in found if each]


def _reached(edges: Mapping[str, set[str]], start: str) -> set[str]:
    seen, waiting = set[str](), [start]
    while waiting:
        waiting += (new := edges[waiting.pop()] - seen)
        seen |= new
    return seen


def main(words: Sequence[str]) -> int:
    """Print the figures of the rooms that have a circle."""
    found = {room: each for room, each in circles(modules()).items() if each}
    print(table([Figure(room, len(each[0]), "modules", LARGEST) for room, each in found.items()]))
    if "--names" in words:
        for each in found.values():
            print(*(f"\n{len(names)}: {' '.join(names)}" for names in each))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
