"""`python -m benchmarks.size`: how much code there is, room by room, and how it is cut.

A line of code is a line that holds a token: no blank line, no comment, no docstring. Each line of a
text that is data counts.
"""

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from benchmarks.figures import Figure, table

ROOT = Path(__file__).resolve().parents[1]
SHORT = 20

GROUPS: Mapping[str, tuple[int, Sequence[str]]] = {
    "core and testing": (24_000, ("uwf-core", "uwf-testing")),
    "step path": (
        6_000,
        [f"uwf-core/{room}" for room in ("engine", "extract", "moderator", "prompt", "thread")],
    ),
    "uwf-eval": (8_300, ("uwf-eval",)),
}
"""What has a bar: the most lines of code, and the distributions or rooms that are added up."""


STAGES = {f"uwf-core/{room}" for room in ("engine", "extract", "moderator", "prompt")}
"""The rooms of the stages of a step. `thread` is not one of them: its records are what is stored,
the fold of it, and the head.
"""


class Module:
    """One Python file of a distribution.

    Attributes:
        file: where it is. distribution: its folder, such as `uwf-core`.
        room: the distribution and the first folder below the package: `uwf-core/cli`.
    """

    def __init__(self, file: Path, root: Path = ROOT) -> None:
        parts = file.relative_to(root).parts
        self.file = file
        self.name = "/".join(parts)
        self.distribution = parts[0]
        self.room = f"{parts[0]}/{parts[3]}" if len(parts) > 4 else parts[0]
        self._text = file.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self._text, filename=self.name)

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """The nodes of its tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def lines(self) -> int:
        """How many lines it has, all counted."""
        return len(self._text.splitlines())

    @cached_property
    def code_lines(self) -> int:
        """How many of them are code."""
        texts = (line.strip() for line in self._text.splitlines())
        found = {number for number, text in enumerate(texts, 1) if text and text[0] != "#"}
        for node in self.nodes:
            match node:
                case ast.JoinedStr() | ast.Constant(value=str() | bytes()):
                    found.update(_span(node))
        return len(found - {line for each in self._docstrings() for line in _span(each)})

    def _docstrings(self) -> Iterator[ast.stmt]:
        """Texts that stand as statements: docstrings, also those below an attribute."""
        for node in self.nodes:
            match node:
                case ast.Expr(value=ast.Constant(value=str())):
                    yield node

    def functions(self) -> Iterator[tuple[str, int]]:
        """Each function's place and the lines of its body, without its docstring."""
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                documented = ast.get_docstring(node) is not None and len(node.body) > 1
                body = node.body[1:] if documented else node.body
                place = f"{self.name}:{node.lineno} {node.name}"
                yield place, (body[-1].end_lineno or 0) - body[0].lineno + 1

    def classes(self) -> Iterator[str]:
        """The names of its classes."""
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                yield node.name

    def records(self) -> Iterator[str]:
        """The names of its classes that carry values: named tuples, dataclasses and classes with
        `__slots__`. Shapes of JSON documents (`TypedDict`) are not counted.
        """
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                marks = [ast.unparse(each) for each in (*node.bases, *node.decorator_list)]
                slots = any(
                    isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__slots__"
                    for each in node.body
                )
                if slots or any(mark.startswith(("NamedTuple", "dataclass")) for mark in marks):
                    yield node.name

    def inner_imports(self) -> Iterator[int]:
        """The line of each import inside a function."""
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _imports(node)


def _imports(function: ast.AST) -> Iterator[int]:
    """Imports of a function, not those of functions within it, which count on their own."""
    for node in ast.iter_child_nodes(function):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node.lineno
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(node)


def _span(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def modules(root: Path = ROOT) -> list[Module]:
    """Every Python file that goes into a distribution."""
    return [Module(file, root) for file in sorted(root.glob("uwf-*/src/**/*.py"))]


def repeated_classes(found: Iterable[Module]) -> dict[str, list[str]]:
    """Class names that a distribution has more than once, each with the files that define it."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in found:
        for name in module.classes():
            places[module.distribution, name].append(module.name)
    return {
        f"{distribution} {name}": files
        for (distribution, name), files in sorted(places.items())
        if len(files) > 1
    }


def step_records(found: Iterable[Module]) -> list[str]:
    """The records that a step is carried in, from `exec` to its stored node."""
    return sorted(name for each in found if each.room in STAGES for name in each.records())


def figures(found: Sequence[Module]) -> Iterator[Figure]:
    """The figures, first those with a bar."""
    for group, (most, names) in GROUPS.items():
        wanted = [each for each in found if {each.distribution, each.room} & set(names)]
        yield Figure(group, _code(wanted), "lines of code", most)
    largest = max(found, key=lambda each: each.lines)
    yield Figure("largest file", largest.lines, "lines", 450, largest.name)
    lengths = [length for each in found for _, length in each.functions()]
    long = sum(length > SHORT for length in lengths) / len(lengths)
    yield Figure(f"functions longer than {SHORT} lines", long * 100, "%", 10,
                 f"of {len(lengths):,}")  # fmt: skip
    twice = repeated_classes(found)
    yield Figure("class names twice in a distribution", len(twice), "names", 0)
    carried = step_records(found)
    yield Figure("records from exec to the stored step", len(carried), "records", 8,
                 ", ".join(carried))  # fmt: skip
    inner = sum(len(list(each.inner_imports())) for each in found)
    yield Figure("imports inside functions", inner, "imports")
    yield Figure("such imports in 1,000 lines", inner / _code(found) * 1000, "imports")


def rooms(found: Sequence[Module]) -> Iterator[Figure]:
    """The lines of code of each distribution, and of each of its rooms."""
    yield Figure("all distributions", _code(found), "lines of code", None, _files(found))
    for distribution, own in _grouped(found, lambda each: each.distribution).items():
        yield Figure(distribution, _code(own), "lines of code", None, _files(own))
        for room, inside in _grouped(own, lambda each: each.room).items():
            name = f"  {room.removeprefix(distribution) or '/'}"
            yield Figure(name, _code(inside), "lines of code", None, _files(inside))


def _grouped(
    found: Iterable[Module], key: Callable[[Module], str]
) -> dict[str, list[Module]]:  # fmt: skip
    groups: dict[str, list[Module]] = defaultdict(list)
    for each in found:
        groups[key(each)].append(each)
    return dict(sorted(groups.items()))


def _code(found: Iterable[Module]) -> int:
    return sum(each.code_lines for each in found)


def _files(found: Sequence[Module]) -> str:
    return f"{len(found)} files" if len(found) != 1 else "1 file"


def main(words: Sequence[str]) -> int:
    """Print the figures; 1 if a bar is missed and `--check` was said."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.size", description=__doc__)
    parser.add_argument("--check", action="store_true", help="a missed bar is an error")
    parser.add_argument("--names", action="store_true", help="list repeated class names as well")
    parser.add_argument("--files", action="store_true", help="list every file as well")
    wanted = parser.parse_args(words)
    found = modules()
    shown = list(figures(found))
    print(table(shown), table(rooms(found)), sep="\n\n")
    if wanted.names:
        twice = repeated_classes(found).items()
        print("", *(f"{name}: {', '.join(files)}" for name, files in twice), sep="\n")
    if wanted.files:
        print("", *(f"{each.code_lines:6,}  {each.name}" for each in found), sep="\n")
    return 1 if wanted.check and any(each.verdict == "MISSED" for each in shown) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
