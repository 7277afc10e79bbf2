"""Every command that a message names is one that there is, with options that it has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import uwf_core
from uwf_core.cli.complete import options_of
from uwf_core.operations.plugin_rows import every_command
from uwf_core.operations.rows import RETIRED, Noun

COMMANDS = every_command().rows

ROOT = Path(uwf_core.__file__).parent
FOREIGN = {"acp", "eval", "improve", "mcp", "web", "worker"}
PROSE = {"and", "cannot", "is", "on", "plugins", "runs"}
"""What follows the word uwf in a sentence that begins with it."""
VALUE = "VALUE"
"""Stands for what is put into an f-string."""
_CALL = re.compile(r"(?:^|`|: |or |see |with |by )uwf ([a-z][^`;,:()]*)")


def texts(tree: ast.AST) -> Iterator[str]:
    """The texts of a module save its docstrings; what an f-string puts in is `VALUE`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            node.value = ast.Constant(None)
        if isinstance(node, ast.JoinedStr):
            parts = (
                each.value if isinstance(each, ast.Constant) else VALUE for each in node.values
            )
            yield "".join(map(str, parts))
            node.values = []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def named_commands() -> Iterator[tuple[str, str]]:
    for file in sorted(ROOT.rglob("*.py")):
        for text in texts(ast.parse(file.read_text("utf-8"))):
            for found in _CALL.finditer(text):
                yield str(file.relative_to(ROOT)), found[1].strip()


def fault(call: str) -> str | None:
    """What is wrong with a call of `uwf`, as a message names it."""
    entries, path = COMMANDS, ()
    words = call.split()
    while words and words[0] in entries:
        path = (*path, words.pop(0))
        entry = entries[path[-1]]
        if not isinstance(entry, Noun):
            known = {*options_of(entry), "-p", "-c", "-o", "--help"}
            asked = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
            return f"it has no {', '.join(sorted(asked - known))}" if asked - known else None
        entries = entry.rows
    if path:
        return None if not words or words[0] == VALUE else f"`{' '.join(path)}` has no {words[0]!r}"
    return None if words[0] in FOREIGN | PROSE else f"there is no command {words[0]!r}"


def test_every_command_that_a_message_names_is_there() -> None:
    calls = sorted(set(named_commands()))
    assert len({call for _, call in calls}) > 60
    faults = {(file, call): fault(call) for file, call in calls}
    assert {place: wrong for place, wrong in faults.items() if wrong} == {}


@pytest.mark.parametrize("replacement", [e for e in RETIRED.values() if e.startswith("uwf ")])
def test_what_replaces_a_retired_name_is_there(replacement: str) -> None:
    assert fault(replacement.removeprefix("uwf ")) is None
