"""A task.yaml of the original uwf is read with the meaning that it had there."""

import json
from pathlib import Path

import pytest
from tests.eval.task.test_read import read

from uwf_core.client import Cancel
from uwf_eval.judges.script import ScriptCall, run_script

TASK = """\
name: shop
description: A task of the original
workflow: fix-bug
prompt: repair it
limits: {maxSteps: 12, timeoutMinutes: 30}
judges:
  - {name: frontmatter-compliance, weight: 0.2, builtin: true}
  - {name: token-stats, builtin: true}
  - {name: works, weight: 0.8, builtin: false, entry: judges/works.js, schema: judges/works.json}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the task."""
    folder = tmp_path / "task"
    (folder / "judges").mkdir(parents=True)
    (folder / "judges/works.js").write_text("", encoding="utf-8")
    schema = {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}
    (folder / "judges/works.json").write_text(json.dumps(schema), encoding="utf-8")
    return folder


def test_its_limits_judges_and_schemas_are_understood(folder: Path) -> None:
    task = read(folder, TASK).require()
    assert (task.limits.max_steps, task.limits.max_minutes) == (12, 30)
    assert [(judge.judge, judge.weight) for judge in task.judges] == [
        ("builtin:frontmatter-compliance", 0.2),
        ("builtin:token-stats", 0),
        ("entry:judges/works.js", 0.8),
    ]
    assert task.judges[2].schema is not None
    assert task.judges[2].schema["required"] == ["lines"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("judges/other.json", "cannot read the schema 'judges/other.json'"),
        ("../outside.json", "points outside the task"),
        ("judges/works.js", "is not JSON"),
        ("judges/list.json", "is not a JSON object"),
    ],
)
def test_a_schema_that_cannot_be_read_is_reported_at_its_place(
    folder: Path, name: str, message: str
) -> None:
    (folder / "judges/list.json").write_text("[]", encoding="utf-8")
    checked = read(folder, TASK.replace("judges/works.json", name))
    assert [(each.line, each.code) for each in checked.problems] == [(9, "bad-schema")]
    assert message in checked.problems[0].message


def test_a_misspelt_judge_is_still_reported(folder: Path) -> None:
    checked = read(folder, TASK.replace("name: token-stats", "name: token-stat"))
    assert [each.line for each in checked.problems] == [8]
    assert "token-stats" in (checked.problems[0].hint or "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("judge.sh", 'echo "$2"\necho \'{"score": 0.5, "data": {"cwd": true}}\'\n'),
        ("judge", '#!/usr/bin/env sh\necho \'{"score": 0.5, "data": {"cwd": true}}\'\n'),
    ],
)
def test_a_judge_without_the_run_bit_runs_through_its_interpreter(
    tmp_path: Path, name: str, text: str
) -> None:
    entry = tmp_path / name
    entry.write_text(text, encoding="utf-8")
    call = ScriptCall(
        entry=entry,
        cwd=tmp_path,
        thread="T",
        env={"PATH": "/usr/bin:/bin"},
        seconds=20,
        cancel=Cancel(),
    )
    verdict = run_script(call)
    assert (verdict.score, verdict.data) == (0.5, {"cwd": True})
