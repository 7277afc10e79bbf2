"""Fix what is mechanical in the text of a workflow file; comments and formatting stay.

Fixed are: a missing version, keys that are misspelt or of an older version, `$status` that is not
required, and `$status` as an enum, whose statuses share their fields. Edits are checked, as many at
once as there are of a kind: they are kept only if they remove their problems and break nothing.
"""

import json
import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from uwf_core.errors import DefinitionError, UsageError
from uwf_core.process.path_walk import read_regular
from uwf_core.workflow.check import Checked, check_loaded, rejected, without_collection
from uwf_core.workflow.lattice import as_list
from uwf_core.workflow.load import load_text, open_source, reason
from uwf_core.workflow.variants import STATUS
from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlSequence, plain_value, to_value
from uwf_core.yaml.problem import Place, Problem
from uwf_core.yaml.source import MAX_BYTES, decode

if TYPE_CHECKING:
    from uwf_core.workflow.callees import Callees


MAX_FIXES: Final = 200
"""The most edits of one file."""
_SYNTAX: Final = frozenset(("yaml-syntax", "duplicate-key", "alias", "key", "several-documents"))
_UNCOVERED: Final = frozenset(
    ("status-not-required", "template-optional-field", "required-undeclared", "may-be-blank")
)
"""What an edit of `$status` may uncover, since more of the file can be checked."""

Check = Callable[[str], tuple[tuple[Problem, ...], YamlNode | None]]
"""The problems of a text, and its document."""


class Edit(NamedTuple):
    """Replace the text from `begin` to `end` (offsets in the file) by `new`."""

    begin: int
    end: int
    new: str


class Fixed(NamedTuple):
    """A text with its fixes: `problems` are those that are gone, `left` those that stay."""

    text: str
    problems: tuple[Problem, ...]
    left: tuple[Problem, ...]


def fixed(text: str, file: str, check: Check, is_over: Callable[[int], bool]) -> Fixed:
    """Fix a text until nothing mechanical is left.

    Args:
        text: of the file. file: its name in problems; those of included files are left alone.
        check: checks a text. is_over: whether no further check is allowed after so many whose edits
            were rejected; then the rest is left.
    """
    problems, root = check(text)
    done: list[Problem] = []
    tried: set[Problem] = set()
    most, rejections = MAX_FIXES, 0
    while len(done) + len(tried) < MAX_FIXES and isinstance(root, YamlMapping):
        if is_over(rejections):
            break
        mine = [each for each in problems if each.file == file and each not in tried]
        found = _Source(text, root).batch(mine, min(most, MAX_FIXES - len(done) - len(tried)))
        if not found:
            break
        batch = [problem for problem, _ in found]
        candidate = _edited(text, [edit for _, edits in found for edit in edits])
        after, root_after = check(candidate)
        if _is_better(batch, problems, after):
            done += batch
            text, problems, root = candidate, after, root_after
            most = MAX_FIXES
            continue
        rejections += 1
        if len(batch) > 1:
            most = len(batch) // 2  # find those that are to be left
        else:
            tried.add(batch[0])
    return Fixed(text, tuple(done), problems)


def _is_better(
    batch: list[Problem], before: tuple[Problem, ...], after: tuple[Problem, ...]
) -> bool:
    """Whether edits of one kind are kept. With its right name, a key is checked for the first
    time.
    """
    was, now = ({each.code for each in some} for some in (before, after))
    if batch[0].replacement:
        return not now & _SYNTAX
    if not now - _UNCOVERED <= was:
        return False
    code = batch[0].code
    return _count(code, after) <= _count(code, before) - len(batch)


def _kind(problem: Problem) -> str:
    """What edits are checked together: keys, or what has the same code."""
    return "" if problem.replacement else problem.code


def _count(code: str, problems: tuple[Problem, ...]) -> int:
    return sum(each.code == code for each in problems)


def _edited(text: str, edits: list[Edit]) -> str:
    for edit in sorted(edits, reverse=True):
        text = text[: edit.begin] + edit.new + text[edit.end :]
    return text


class _Source:
    """A text with its document, whose parts are found by their places."""

    def __init__(self, text: str, root: YamlMapping) -> None:
        self.text = text
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.mappings: dict[Place, YamlMapping] = {}
        self.keys: dict[Place, tuple[YamlMapping, str]] = {}
        self.enums: dict[Place, YamlMapping] = {}
        for holder in _mappings(root):
            self.mappings.setdefault(holder.place, holder)
            for key, node in holder.keys.items():
                self.keys.setdefault(node.place, (holder, key))
            fields = holder.values.get("properties")
            status = fields.values.get(STATUS) if isinstance(fields, YamlMapping) else None
            if isinstance(status, YamlMapping) and "enum" in status.keys:
                self.enums.setdefault(status.keys["enum"].place, holder)

    def batch(self, problems: list[Problem], most: int) -> list[tuple[Problem, list[Edit]]]:
        """The first problems of one kind that can be fixed together, each with its edits."""
        found: list[tuple[Problem, list[Edit]]] = []
        if "\r" in self.text.replace("\r\n", ""):
            return found  # lines that end in a way of their own are left alone
        spans: list[tuple[int, int]] = []
        for problem in problems:
            if len(found) == most:
                break
            if found and _kind(problem) != _kind(found[0][0]):
                continue
            edits = [*self.edits(problem)]
            if not edits:
                continue
            begin, end = min(each.begin for each in edits), max(each.end for each in edits)
            if all(end < other or begin > after for other, after in spans):
                found.append((problem, edits))
                spans.append((begin, end))
        return found

    def edits(self, problem: Problem) -> Iterator[Edit]:
        """What fixes a problem; nothing if it is not mechanical."""
        at = self._offset(problem.place)
        if problem.code == "version-missing":
            if self.text[at] != "{":
                yield Edit(at, at, f"version: 1{self.newline}")
        elif problem.replacement:
            yield from self._key(at, problem)
        elif problem.code == "status-not-required":
            yield from self._required(at, problem.place)
        elif problem.code == "status-enum":
            yield from self._variants(problem.place)

    def _offset(self, place: Place) -> int:
        return self.lines[place.line - 1] + place.column - 1

    def _column(self, at: int) -> int:
        return at - self.text.rfind("\n", 0, at) - 1

    def _key(self, at: int, problem: Problem) -> Iterator[Edit]:
        holder, key = self.keys.get(problem.place, (None, ""))
        if holder is None or problem.replacement in holder.values:
            return
        begin = at + (self.text[at] in "'\"")
        if self.text.startswith(key, begin):
            yield Edit(begin, begin + len(key), problem.replacement)

    # -- schemas

    def _required(self, at: int, place: Place) -> Iterator[Edit]:
        """Require `$status` in the mapping at a place."""
        holder = self.mappings.get(place)
        if holder is None:
            return
        given = holder.values.get("required")
        if given is None and self.text[at] == "{":
            yield Edit(at + 1, at + 1, f"required: [{STATUS}], ")
        elif given is None:
            first = self._offset(next(iter(holder.keys.values())).place)
            indent = " " * self._column(first)
            yield Edit(first, first, f"required: [{STATUS}]{self.newline}{indent}")
        elif isinstance(given, YamlSequence) and self.text[self._offset(given.place)] == "[":
            begin = self._offset(given.place) + 1
            yield Edit(begin, begin, f"{STATUS}, " if given.items else STATUS)

    def _variants(self, place: Place) -> Iterator[Edit]:
        """One variant for each value of an enum, beside the fields that they share."""
        schema = self.enums.get(place)
        if schema is None or {"oneOf", "anyOf"} & schema.values.keys():
            return
        fields = schema.values["properties"]
        assert isinstance(fields, YamlMapping)
        status = fields.values[STATUS]
        assert isinstance(status, YamlMapping)
        values = to_value(status.values["enum"])
        if all(isinstance(each, str) for each in as_list(values)):
            yield from self._separated(schema, fields, values)

    def _separated(
        self, schema: YamlMapping, fields: YamlMapping, values: list[str]
    ) -> Iterator[Edit]:
        holder, key = (schema, "properties") if len(fields.keys) == 1 else (fields, STATUS)
        span = self._entry(holder, key)
        if span is None or "#" in self.text[slice(*span)]:
            return  # a comment would be lost
        if holder is schema:
            yield Edit(*span, self._one_of(schema, span[0], values, is_last=True))
        else:
            start = span[0] if self._is_flow(fields) else span[0] - self._column(span[0])
            yield Edit(start, span[1], "")
            first = self._offset(next(iter(schema.keys.values())).place)
            yield Edit(first, first, self._one_of(schema, first, values))

    def _entry(self, holder: YamlMapping, key: str) -> tuple[int, int] | None:
        """The text of an entry; None for the last one within braces."""
        names = [*holder.keys]
        begin, index = self._offset(holder.keys[key].place), names.index(key) + 1
        if not self._is_flow(holder):
            return begin, self._end_of_block(begin)
        if index == len(names):
            return None
        return begin, self._offset(holder.keys[names[index]].place)

    def _is_flow(self, holder: YamlMapping) -> bool:
        return self.text[self._offset(holder.place)] == "{"

    def _end_of_block(self, begin: int) -> int:
        """The end of the last entry of a block mapping: its lines are indented more."""
        column, end = self._column(begin), self.text.find("\n", begin) + 1 or len(self.text)
        while end < len(self.text):
            line_end = self.text.find("\n", end) + 1 or len(self.text)
            line = self.text[end:line_end]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= column:
                break
            end = line_end
        return end

    def _one_of(
        self, schema: YamlMapping, begin: int, values: list[str], *, is_last: bool = False
    ) -> str:
        """The text of the variants, before what is at `begin`; if it `is_last`, before a line."""
        words = [each if plain_value(each) == each else json.dumps(each) for each in values]
        variants = [f"{{properties: {{{STATUS}: {{const: {each}}}}}}}" for each in words]
        if self._is_flow(schema):
            return f"oneOf: [{', '.join(variants)}], "
        indent = " " * self._column(begin)
        lines = ["oneOf:", *(f"{indent}  - {each}" for each in variants), "" if is_last else indent]
        return self.newline.join(lines)


def _mappings(node: YamlNode) -> Iterator[YamlMapping]:
    if isinstance(node, YamlMapping):
        yield node
        for each in node.values.values():
            yield from _mappings(each)
    elif isinstance(node, YamlSequence):
        for each in node.items:
            yield from _mappings(each)


MAX_VALUES: Final = 60_000
"""The most values that the checks of a file may read together, which takes about two seconds. The
first check is made in any case.
"""
_CUBE: Final = 500_000
"""A check after which edits are rejected counts as `values ** 3 / _CUBE` values more, since it may
compare all statuses with each other (measured with files of 1,000 to 3,400 values).
"""


@without_collection()
def fix_file(path: str, callees: "Callees | None" = None) -> tuple[tuple[Problem, ...], Checked]:
    """Fix what is mechanical in a file; the problems that are gone, and the check of what is left.
    Arguments as of `check_file`.

    Raises:
        UsageError: it is missing, cannot be read or written, or is a link; it stays as it is.
    """
    with open_source(path) as source:
        data = source.data
    mode = _mode(path)
    try:
        written = decode(data, file=path)
    except DefinitionError as error:
        return (), rejected(path, error)
    checks: dict[str, Checked] = {}

    def check(text: str) -> tuple[tuple[Problem, ...], YamlNode | None]:
        loaded = load_text(text, path)
        checks[text] = check_loaded(loaded, path, callees)
        return checks[text].problems, loaded.node

    def is_over(rejections: int) -> bool:
        counts = [each.values for each in checks.values()]
        compared = rejections * counts[-1] ** 3 // _CUBE
        return sum(counts) + counts[-1] + compared > MAX_VALUES

    found: Fixed = fixed(written, path, check, is_over)
    if found.problems:
        mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
        _replace(path, data, mark + found.text.encode(), mode)
    return found.problems, checks[found.text]


def _mode(path: str) -> int:
    """The permissions of a file; links are rejected."""
    info = os.lstat(path)
    if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1:
        message = "--fix changes no file that is a link or has several names"
        raise UsageError(message, where=path, hint="name the file itself, or copy it")
    return stat.S_IMODE(info.st_mode)


def _replace(path: str, before: bytes, after: bytes, mode: int) -> None:
    draft = f"{path}.{os.urandom(6).hex()}.new"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as stream:
                os.fchmod(descriptor, mode)
                stream.write(after)
                stream.flush()
                os.fsync(descriptor)
            if read_regular(path, MAX_BYTES, cut=True) != before:
                raise UsageError("the file changed meanwhile", where=path, hint="run it again")
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink()
            raise
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {reason(error)}",
            where=path,
            hint="check the permissions of the folder",
        ) from error
