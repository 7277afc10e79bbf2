"""Bugs planted at random places: which edits there are, and where each can be made.

The kinds are those of bugs that tests have missed: what is not flushed, moments, the second line of
defence, the second of two, ends of resources, numbers of attempts and exit codes, thresholds and
factors, swallowed errors, wrong defaults, the wrong order of writes.
"""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.mutants.mutant import ROOT

_COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/"}
_OTHER_END = {"min": "max", "max": "min", "any": "all", "all": "any"}
_DURABLE = ("fsync", "fdatasync", "flush", "sync", "commit")
_ENDING = ("close", "join", "cancel", "terminate", "kill", "release", "shutdown", "stop", "cleanup")
_WRITING = ("write", "put", "set", "delete", "replace", "rename", "unlink", "insert", "remove")
_UNITS = {"days": "hours", "hours": "minutes", "minutes": "seconds", "seconds": "minutes"}
_IN_ANOTHER_UNIT = (60, 1_000, 3_600, 86_400, 1_000_000)
_NO_PROMISE = ("/testing/", "/demo/", "/examples/", "/templates/", "generated")


class RandomBug(NamedTuple):
    """An edit of one place of a file.

    Attributes:
        kind: of which sort it is.
        path: the file below the checkout.
        line: where it is, from 1.
        start: where the text begins that it replaces, in bytes.
        end: where that text ends.
        new: what stands there instead.
        statement: the line of the statement around it, which is where `reach` looks.
    """

    kind: str
    path: str
    line: int
    start: int
    end: int
    new: str
    statement: int

    @property
    def mark(self) -> str:
        """The statement that says that this place was reached; `reach` defines the module."""
        lines = (ROOT / self.path).read_text("utf-8").splitlines()
        line = lines[self.statement - 1]
        return line[: len(line) - len(line.lstrip())] + '__import__("uwf_bug_reach").at({})'

    @property
    def what(self) -> str:
        """The place, and what becomes of it."""
        return f"{self.path}:{self.line}: {self.change}"

    @property
    def change(self) -> str:
        """What becomes of what."""
        old = (ROOT / self.path).read_bytes()[self.start : self.end].decode()
        short = [" ".join(text.split())[:60] or "nothing" for text in (old, self.new)]
        return f"{short[0]} -> {short[1]}"

    def edited(self, sources: Path = ROOT) -> str:
        """The file's text with the bug in it."""
        text = (sources / self.path).read_bytes()
        return (text[: self.start] + self.new.encode() + text[self.end :]).decode()


def planted(count: int, seed: int, only: str = "", kinds: Collection[str] = ()) -> list[RandomBug]:
    """So many bugs, the same for each seed: the same share of every distribution's lines, and of
    the kinds that a file has each the same chance.

    Args:
        count: how many.
        seed: what is random follows from it.
        only: how the paths begin.
        kinds: of which sorts they may be; of all if empty.
    """
    chance = Random(seed)
    places = list[tuple[str, list[RandomBug]]]()
    for file in sorted(ROOT.glob("uwf-*/src/**/*.py")):
        path = str(file.relative_to(ROOT))
        if path.startswith(only) and not any(word in path for word in _NO_PROMISE):
            edits = _Edits(path, file.read_text("utf-8")).all()
            found = [bug for bug in edits if not kinds or bug.kind in kinds]
            places.extend([(path, found)] if found else [])
    weights = [len(found) for _, found in places]
    bugs = dict[tuple[str, int], RandomBug]()
    for _ in range(100 * count):
        if len(bugs) == count:
            break
        [(path, found)] = chance.choices(places, weights)
        kind = chance.choice(sorted({bug.kind for bug in found}))
        bug = chance.choice([each for each in found if each.kind == kind])
        bugs.setdefault((path, bug.start), bug)
    return sorted(bugs.values(), key=lambda bug: (bug.path, bug.start))


class _Edits:
    """The places of one file where a bug can be planted."""

    def __init__(self, path: str, text: str) -> None:
        self._path, self._data = path, text.encode()
        self._tree = ast.parse(text)
        self._lines = [0]
        for line in self._data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def all(self) -> Iterator[RandomBug]:
        """Each edit, statement by statement. Of what runs at import alone, only numbers that a
        function of the file reads.
        """
        yield from self._numbers()
        for function in ast.walk(self._tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._defaults(function)
                for body in _bodies(function):
                    yield from self._of_body(body)

    def _numbers(self) -> Iterator[RandomBug]:
        for statement in self._tree.body:
            match statement:
                case ast.Assign([ast.Name(id=name)], value) if at := self._first_reader(name):
                    for part in ast.walk(value):
                        if isinstance(part, ast.Constant) and _is_number(part):
                            yield self._replaced("threshold", part, str(part.value * 2), at)

    def _first_reader(self, name: str) -> int | None:
        """The line of the first statement in a function that reads a name."""
        functions = (each for each in ast.walk(self._tree) if isinstance(each, ast.FunctionDef))
        bodies = (body for function in functions for body in _bodies(function))
        for statement in (each for body in bodies for each in body):
            names = (each.id for each in ast.walk(statement) if isinstance(each, ast.Name))
            if name in names and self._begins_its_line(statement):
                return statement.lineno
        return None

    def _of_body(self, body: list[ast.stmt]) -> Iterator[RandomBug]:
        for first, second in zip(body, [*body[1:], None], strict=True):
            if not self._begins_its_line(first):
                continue
            yield from self._of_statement(first, first.lineno)
            if second and _writes(first) and _writes(second) and self._begins_its_line(second):
                between = self._data[self._at(first, end=True) : self._at(second)].decode()
                new = f"{self._source(second)}{between}{self._source(first)}"
                start, end = self._at(first), self._at(second, end=True)
                yield self._bug("order", first, start, end, new, first.lineno)

    def _of_statement(self, statement: ast.stmt, at: int) -> Iterator[RandomBug]:
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(attr=name) | ast.Name(id=name))):
                kind = "durability" if any(word in name for word in _DURABLE) else "lost effect"
                yield self._replaced("end" if name in _ENDING else kind, statement, "pass", at)
            case ast.Raise():
                yield self._replaced("swallowed error", statement, "pass", at)
            case ast.Break():
                yield self._replaced("second", statement, "continue", at)
            case ast.If(body=[ast.Raise() | ast.Return(), *_]) if not statement.orelse:
                yield self._replaced("defence", statement.test, "False", at)
        for part in _own_expressions(statement):
            yield from self._of_expression(part, at)

    def _of_expression(self, part: ast.expr, at: int) -> Iterator[RandomBug]:
        match part:
            case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARED:
                yield self._of_two("off by one", part, left, _COMPARED[type(operator)], right, at)
            case ast.BinOp(left, operator, right) if type(operator) in _COMPUTED:
                if not any(_is_text(side) for side in (left, right)):
                    yield self._of_two("factor", part, left, _COMPUTED[type(operator)], right, at)
            case ast.BoolOp(values=[first, *_]):
                yield self._replaced("defence", part, f"({self._source(first)})", at)
            case ast.UnaryOp(ast.Not(), operand):
                yield self._replaced("defence", part, f"bool({self._source(operand)})", at)
            case ast.Constant(int() | float()):
                yield self._of_constant(part, at)
            case _:
                yield from self._of_choice(part, at)

    def _of_choice(self, part: ast.expr, at: int) -> Iterator[RandomBug]:
        match part:
            case ast.Subscript(slice=ast.Constant(0) as index):
                yield self._replaced("second", index, "-1", at)
            case ast.Subscript(slice=ast.UnaryOp(ast.USub(), ast.Constant(1)) as index):
                yield self._replaced("second", index, "0", at)
            case ast.Call(ast.Name(id=name) as called) if name in _OTHER_END:
                yield self._replaced("second", called, _OTHER_END[name], at)
            case ast.Call(keywords=named):
                for each in named:
                    if each.arg in _UNITS and isinstance(each.value, ast.Constant | ast.Name):
                        new = f"{_UNITS[each.arg]}={self._source(each.value)}"
                        yield self._replaced("time", each, new, at)

    def _of_constant(self, part: ast.Constant, at: int) -> RandomBug:
        value = part.value
        if isinstance(value, bool):
            return self._replaced("wrong value", part, str(not value), at)
        assert isinstance(value, int | float)
        if isinstance(value, float) or value in _IN_ANOTHER_UNIT:
            return self._replaced("factor", part, str(value * 2 if value < 60 else 1), at)
        if self._source(part).startswith("0o"):
            return self._replaced("file mode", part, oct(value ^ 0o44), at)
        return self._replaced("off by one", part, str(value + 1), at)

    def _of_two(
        self, kind: str, part: ast.expr, left: ast.expr, word: str, right: ast.expr, at: int
    ) -> RandomBug:
        new = f"(({self._source(left)}) {word} ({self._source(right)}))"
        return self._replaced(kind, part, new, at)

    def _defaults(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[RandomBug]:
        at = next((each for each in function.body if not _is_text_alone(each)), None)
        if at is None or not self._begins_its_line(at):
            return
        for each in (*function.args.defaults, *function.args.kw_defaults):
            if isinstance(each, ast.Constant) and isinstance(each.value, bool | int | float):
                flag = isinstance(each.value, bool)
                new = str(not each.value) if flag else str(each.value + 1)
                yield self._replaced("wrong default", each, new, at.lineno)

    def _replaced(self, kind: str, node: ast.AST, new: str, at: int) -> RandomBug:
        return self._bug(kind, node, self._at(node), self._at(node, end=True), new, at)

    def _bug(self, kind: str, node: ast.AST, start: int, end: int, new: str, at: int) -> RandomBug:
        line = getattr(node, "lineno", at)
        return RandomBug(kind, self._path, line, start, end, new, at)

    def _at(self, node: ast.AST, *, end: bool = False) -> int:
        line, column = (
            (node.end_lineno, node.end_col_offset) if end else (node.lineno, node.col_offset)
        )
        return self._lines[line - 1] + int(column)

    def _source(self, node: ast.AST) -> str:
        return self._data[self._at(node) : self._at(node, end=True)].decode()

    def _begins_its_line(self, statement: ast.stmt) -> bool:
        """Whether a line can be put before it."""
        start = self._at(statement)
        before = self._data[self._lines[statement.lineno - 1] : start]
        return not before.strip() and not self._data[start:].startswith(b"elif")


def _bodies(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a function, without those of the functions in it."""
    waiting = [function]
    while waiting:
        node = waiting.pop()
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body
                waiting.extend(each for each in body if not _is_definition(each))
        waiting.extend(getattr(node, "handlers", ()))
        waiting.extend(getattr(node, "cases", ()))


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement computes itself, without the statements in it."""
    if _is_definition(statement):
        return
    waiting = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.JoinedStr | ast.Lambda):
            continue
        yield part
        for child in ast.iter_child_nodes(part):
            inner = child.value if isinstance(child, ast.keyword) else child
            if isinstance(inner, ast.expr):
                waiting.append(inner)


def _is_definition(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _writes(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(attr=name) | ast.Name(id=name))):
            return any(word in name for word in (*_DURABLE, *_WRITING))
    return False


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and not isinstance(node.value, int | float)
    )


def _is_number(node: ast.Constant) -> bool:
    return isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _is_text_alone(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
