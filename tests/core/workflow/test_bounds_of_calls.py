"""A file that calls many others is checked and published soon, or an error names the place."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.core.workflow.checking import Checked, check_file, desk, fix_file

SECONDS = 4.0
"""Of computing; twice what it takes on a quiet machine at most."""


def _checked(file: Path) -> Checked:
    began = time.process_time()
    checked = check_file(file)
    assert time.process_time() - began < SECONDS
    return checked


def _write(folder: Path, name: str, roles: dict[str, Any]) -> Path:
    names = [*roles]
    graph: dict[str, Any] = {
        each: {"done": {"role": after, "prompt": "x"}}
        for each, after in zip(names, [*names[1:], "$END"], strict=True)
    }
    begin = {"role": names[0], "prompt": "x"}
    graph["$START"] = {"new": begin, "resume": begin}
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps({"version": 1, "name": name, "roles": roles, "graph": graph}))
    return file


def _leaf(folder: Path, name: str, **field: Any) -> Path:
    fields = {"$status": {"const": "done"}, **field}
    schema = {"properties": fields, "required": ["$status"]}
    return _write(folder, name, {"a": {"goal": "g", "frontmatter": schema}})


def _calls(folder: Path, name: str, called: list[str]) -> Path:
    return _write(folder, name, {f"c{n}": {"workflow": f"./{each}.yaml"}
                                 for n, each in enumerate(called)})  # fmt: skip


def _small(folder: Path) -> Path:
    names = [_leaf(folder, f"s{n}").stem for n in range(250)]
    return _calls(folder, "top", names)


def _large(folder: Path) -> Path:
    words = {"enum": [f"v{n}" for n in range(9_000)]}
    names = [_leaf(folder, f"s{n}", x=words).stem for n in range(8)]
    return _calls(folder, "top", names)


def _deep(folder: Path) -> Path:
    depth = 200
    _leaf(folder, f"s{depth}")
    for n in range(depth):
        file = _calls(folder, f"s{depth - n - 1}", [f"s{depth - n}"])
    return file


def _broken(folder: Path) -> Path:
    words = {"enum": [f"v{n}" for n in range(9_000)], "format": "dat"}
    _leaf(folder, "broken", x=words)
    return _calls(folder, "top", ["broken"] * 300)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (_small, "too-many-nodes"),
        (_large, "too-many-nodes"),
        (_deep, "too-deep"),
        (_broken, "unknown-workflow"),
    ],
)
def test_called_files_beyond_a_limit_are_refused_at_a_place(
    tmp_path: Path, make: Callable[[Path], Path], code: str
) -> None:
    checked = _checked(make(tmp_path))
    assert not checked.valid
    assert [each for each in checked.problems if each.code == code]


def test_a_workflow_that_is_called_in_a_billion_ways_is_published_once(tmp_path: Path) -> None:
    _leaf(tmp_path, "s30")
    for n in range(29, -1, -1):
        file = _calls(tmp_path, f"s{n}", [f"s{n + 1}"] * 2)
    assert _checked(file).valid
    assert desk().add_workflow(file) == desk().add_workflow(file)


def test_many_typos_take_few_checks(tmp_path: Path) -> None:
    names = [f"r{n}" for n in range(150)]
    text = "version: 1\nname: a\nroles:\n"
    for name in names:
        text += f"  {name}:\n    gaol: g\n    frontmatter:\n      properties: "
        text += "{$status: {const: done}}\n      required: [$status]\n"
    text += "graph:\n  $START:\n    new: {role: r0, prompt: x}\n    resume: {role: r0, prompt: x}\n"
    for name, after in zip(names, [*names[1:], "$END"], strict=True):
        text += f"  {name}:\n    done: {{role: {after}, prompt: x}}\n"
    file = tmp_path / "a.yaml"
    file.write_text(text)
    began = time.process_time()
    assert len(fix_file(file)) == len(names)
    assert time.process_time() - began < SECONDS
    assert check_file(file).problems == []
