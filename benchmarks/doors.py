"""`python -m benchmarks.doors`: what one distribution takes of another outside its public doors.

A name is a module or what is imported from it, counted once for each pair of distributions. The
doors are `api`, `client`, `commands`, `operations` and `testing`, with the errors, ids and typed
fields that go through them. Below them, how many lines of the tests import what lies behind the
doors of the core; `--names` lists both.
"""

import argparse
import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.figures import Figure, table
from benchmarks.size import Module, modules, tests

DOORS = {
    "api",
    "client",
    "commands",
    "errors",
    "fields",
    "ids",
    "operations",
    "testing",
}
PURE = {
    "uwf_core.cas.codec",
    "uwf_core.cas.hashing",
    "uwf_core.markdown",
    "uwf_core.markup",
    "uwf_core.moderator",
    "uwf_core.fields",
    "uwf_core.thread.lifecycle",
    "uwf_core.workflow.template",
}
"""Rooms without state and without files, whose functions have direct tests."""


def imported(module: Module) -> Iterator[str]:
    """Each dotted name of a distribution of this repository that a module imports."""
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def is_behind(name: str) -> bool:
    """Whether a name lies behind the doors of its package."""
    package, _, rest = name.partition(".")
    return package.startswith("uwf_") and bool(rest) and rest.partition(".")[0] not in DOORS


def through_walls(found: Iterable[Module]) -> dict[tuple[str, str], set[str]]:
    """For each pair of distributions the names that the first takes from behind the doors of the
    second.
    """
    taken: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in found:
        own = module.distribution.replace("-", "_")
        for name in imported(module):
            package = name.partition(".")[0]
            if package != own and is_behind(name):
                taken[module.distribution, package.replace("_", "-")].add(name)
    return dict(sorted(taken.items()))


def tests_of_internals(found: Iterable[Module]) -> Mapping[str, int]:
    """The physical lines of each file of the tests that imports internals of the core, but for its
    pure rooms.
    """
    return {
        module.name: module.lines
        for module in found
        if any(
            name.startswith("uwf_core.") and is_behind(name) and not _is_pure(name)
            for name in imported(module)
        )
    }


def _is_pure(name: str) -> bool:
    return any(f"{name}.".startswith(f"{room}.") for room in PURE)


def main(words: Sequence[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.doors", description=__doc__)
    parser.add_argument("--names", action="store_true", help="list the names and files as well")
    wanted = parser.parse_args(words)
    taken, inner = through_walls(modules()), tests_of_internals(tests())
    shown = [
        Figure(f"{of} of {by}", len(names), "names", 20) for (by, of), names in taken.items()
    ]  # fmt: skip
    shown.append(Figure("tests that import internals", sum(inner.values()), "lines", 25_000,
                        f"{len(inner)} files"))  # fmt: skip
    print(table(shown))
    if wanted.names:
        for (by, of), names in taken.items():
            print(f"\n{by} takes of {of}:", *sorted(names), sep="\n  ")
        print("\ntests that import internals:")
        rooms = Counter[str]()
        for name, lines in inner.items():
            rooms["/".join(name.split("/")[:3])] += lines
        print(*(f"  {lines:6,}  {room}" for room, lines in rooms.most_common()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
