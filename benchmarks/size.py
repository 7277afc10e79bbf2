"""`python -m benchmarks.size`: how much code there is, room by room, and how it is cut.

A line of code is a line that holds a token: no blank line, no comment, no docstring. Each line of a
text that is data counts, and of a template, a style sheet, a script or a file of SQL each line that
is not blank. An expression is whatever Python evaluates but a plain name or constant: lines that
are only denser do not make it fewer.

`--check` compares with `benchmarks/sum.json`, which `--write` writes: a figure goes down, or up in
a commit whose body names the capability that it buys.
"""

import argparse
import ast
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from benchmarks.figures import Figure, table

ROOT = Path(__file__).resolve().parents[1]
SHORT = 20
_MANY_FIELDS = 9

SUM = ROOT / "benchmarks" / "sum.json"
TARGETS: Mapping[str, tuple[int, str]] = {
    "core": (36_000, "uwf-core/"),
    "product": (78_000, "uwf-"),
    "tests": (74_000, "tests/"),
}
"""The plan for the sum: the most lines of Python, and how the names of the rooms begin."""

TEXTS = {".css", ".html", ".js", ".sql", ".svg", ".txt", ".yaml"}
"""The endings of what else is counted: what people see and what a database runs."""
GENERATED = {"generated.py"}
"""Files that `uwf_testing.operations` makes from others, which count."""


class Counted(Protocol):
    """A file with its figures."""

    distribution: str
    room: str
    name: str

    @property
    def code_lines(self) -> int:
        """How many lines of code it has."""
        ...

    @property
    def expressions(self) -> int:
        """How many expressions it has."""
        ...


class Text:
    """A file of a distribution that is not Python."""

    expressions = 0

    def __init__(self, file: Path, root: Path = ROOT) -> None:
        self.name, self.distribution, self.room = _place(file, root)
        lines = file.read_text(encoding="utf-8").splitlines()
        self.code_lines = sum(bool(line.strip()) for line in lines)


def _place(file: Path, root: Path) -> tuple[str, str, str]:
    """A file's name, its distribution and its room; tests have a room for each folder."""
    parts = file.relative_to(root).parts
    if parts[0] == "tests":
        return "/".join(parts), "tests", "/".join(parts[: min(2, len(parts) - 1)])
    room = f"{parts[0]}/{parts[3]}" if len(parts) > 4 else f"{parts[0]}/"
    return "/".join(parts), parts[0], room


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
        self.file = file
        self.name, self.distribution, self.room = _place(file, root)
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

    @cached_property
    def expressions(self) -> int:
        """How many expressions it has."""
        plain = ast.Name | ast.Constant
        return sum(
            isinstance(each, ast.expr) and not isinstance(each, plain) for each in self.nodes
        )

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
        """The names of its classes that carry values: named tuples, dataclasses, and classes with
        `__slots__` or many annotated attributes. Shapes of JSON documents (`TypedDict`) are not
        counted.
        """
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                marks = [ast.unparse(each) for each in (*node.bases, *node.decorator_list)]
                slots = any(
                    isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__slots__"
                    for each in node.body
                )
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                slots = slots or (not node.bases and len(fields) > _MANY_FIELDS)
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
    """Every Python file that goes into a distribution and that people write."""
    found = sorted(root.glob("uwf-*/src/**/*.py"))
    return [Module(file, root) for file in found if file.name not in GENERATED]


def texts(root: Path = ROOT) -> list[Text]:
    """Every other file of a distribution that counts."""
    found = sorted(root.glob("uwf-*/src/**/*"))
    return [Text(file, root) for file in found if file.suffix in TEXTS and file.is_file()]


def tests(root: Path = ROOT) -> list[Module]:
    """Every Python file of the tests."""
    return [Module(file, root) for file in sorted(root.glob("tests/**/*.py"))]


def sums(found: Iterable[Counted]) -> dict[str, list[int]]:
    """The lines of code and the expressions of each room."""
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for each in found:
        counted[each.room][0] += each.code_lines
        counted[each.room][1] += each.expressions
    return dict(sorted(counted.items()))


def grown(now: Mapping[str, Sequence[int]], allowed: Mapping[str, Sequence[int]]) -> list[str]:
    """What is more than `allowed`: rooms, and distributions as the sum of their rooms."""
    units = ("lines of code", "expressions")
    return [
        f"{room}: {value:,} {unit}, {value - most:,} more than the recorded {most:,}"
        for room, values in _with_distributions(now).items()
        for unit, value, most in zip(
            units, values, _with_distributions(allowed).get(room, (0, 0)), strict=True
        )
        if value > most
    ]


def _with_distributions(rooms: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    added: dict[str, Sequence[int]] = {}
    for room, values in rooms.items():
        name = room.partition("/")[0]
        before = added.get(name, (0, 0))
        added[name] = [old + new for old, new in zip(before, values, strict=True)]
    return {**added, **rooms}


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
    """How the code is cut."""
    largest = max(found, key=lambda each: each.lines)
    yield Figure("largest file", largest.lines, "lines", None, largest.name)
    lengths = [length for each in found for _, length in each.functions()]
    long = sum(length > SHORT for length in lengths) / len(lengths)
    yield Figure(f"functions longer than {SHORT} lines", long * 100, "%", 10,
                 f"of {len(lengths):,}")  # fmt: skip
    twice = repeated_classes(found)
    yield Figure("class names twice in a distribution", len(twice), "names", 0)
    carried = step_records(found)
    yield Figure("records from exec to the stored step", len(carried), "records", 9,
                 ", ".join(carried))  # fmt: skip
    inner = sum(len(list(each.inner_imports())) for each in found)
    yield Figure("imports inside functions", inner, "imports")
    yield Figure("such imports in 1,000 lines", inner / _code(found) * 1000, "imports")


def planned(rooms: Mapping[str, Sequence[int]]) -> Iterator[Figure]:
    """The sums of Python beside the plan."""
    for name, (most, prefix) in TARGETS.items():
        lines = sum(values[0] for room, values in rooms.items() if room.startswith(prefix))
        yield Figure(name, lines, "lines of code", most)


def rooms(found: Sequence[Counted]) -> Iterator[Figure]:
    """The lines of code of each distribution, and of each of its rooms."""
    yield Figure("all distributions", _code(found), "lines of code", None, _files(found))
    for distribution, own in _grouped(found, lambda each: each.distribution).items():
        yield Figure(distribution, _code(own), "lines of code", None, _files(own))
        for room, inside in _grouped(own, lambda each: each.room).items():
            name = f"  {room.removeprefix(distribution)}"
            yield Figure(name, _code(inside), "lines of code", None, _files(inside))


def _grouped(
    found: Iterable[Counted], key: Callable[[Counted], str]
) -> dict[str, list[Counted]]:  # fmt: skip
    groups: dict[str, list[Counted]] = defaultdict(list)
    for each in found:
        groups[key(each)].append(each)
    return dict(sorted(groups.items()))


def _code(found: Iterable[Counted]) -> int:
    return sum(each.code_lines for each in found)


def _files(found: Sequence[Counted]) -> str:
    return f"{len(found)} files" if len(found) != 1 else "1 file"


def main(words: Sequence[str]) -> int:
    """Print the figures; 1 if a sum has grown and `--check` was given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.size", description=__doc__)
    parser.add_argument("--check", action="store_true", help="a sum that has grown is an error")
    parser.add_argument("--write", action="store_true", help="record the sums of today")
    parser.add_argument("--names", action="store_true", help="list repeated class names as well")
    parser.add_argument("--files", action="store_true", help="list every file as well")
    wanted = parser.parse_args(words)
    found = modules()
    counted: list[Counted] = [*found, *texts(), *tests()]
    now = sums(counted)
    if wanted.write:
        rows = ",\n".join(f"  {json.dumps(room)}: {values}" for room, values in now.items())
        SUM.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
    if not wanted.check:
        print(
            table([*planned(sums([*found, *tests()])), *figures(found)]),
            table(rooms(counted)),
            sep="\n\n",
        )
    if wanted.names:
        twice = repeated_classes(found).items()
        print("", *(f"{name}: {', '.join(files)}" for name, files in twice), sep="\n")
    if wanted.files:
        print("", *(f"{each.code_lines:6,}  {each.name}" for each in counted), sep="\n")
    return _checked(now, found) if wanted.check else 0


def _checked(now: Mapping[str, Sequence[int]], found: Sequence[Module]) -> int:
    wrong = grown(now, json.loads(SUM.read_text(encoding="utf-8")))
    missed = [each for each in figures(found) if each.verdict == "MISSED"]
    wrong += [f"{each.name}: {each.value:,} {each.unit}, at most {each.most:,}" for each in missed]
    print(*wrong, sep="\n") if wrong else print("the sum: nothing has grown")
    if wrong:
        print("next: delete something, or run `python -m benchmarks.size --write` and name in the")
        print("body of the commit the capability that this buys")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
