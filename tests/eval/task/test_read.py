"""task.yaml: what is understood, and every fault at once with its place."""

from pathlib import Path

import pytest
from tests.eval.run.run_site import FLOW

from uwf_core.client import Client
from uwf_core.errors import DefinitionError
from uwf_eval.task.checked_file import Checked
from uwf_eval.task.read import Origin, read_task

GOOD = """\
name: shop
workflow: fix-bug
prompt: repair it
judges: [{name: time, builtin: duration}]
"""


def read(folder: Path, text: str) -> Checked:
    folder.mkdir(exist_ok=True)
    (folder / "task.yaml").write_text(text, encoding="utf-8")
    with Client.open(home=folder.parent / "home", cwd=folder) as client:
        return read_task(Origin(folder, "folder", str(folder), "d"), client)


def faults(checked: Checked) -> list[str]:
    return [f"{each.line}:{each.column} {each.code}" for each in checked.problems]


def test_a_small_task_gets_every_default(tmp_path: Path) -> None:
    task = read(tmp_path, GOOD).require()
    assert (task.name, task.workflow, task.pass_, task.protect) == ("shop", "fix-bug", 1.0, ())
    assert [(case.name, case.prompt) for case in task.cases] == [("", "repair it")]
    assert [(j.judge, j.weight, j.repeat) for j in task.judges] == [("builtin:duration", 1.0, 1)]


def test_everything_that_a_task_can_say_is_kept(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "judge.py").write_text("")
    (tmp_path / "flow.yaml").write_text(FLOW)
    task = read(
        tmp_path,
        """\
x-shared: &shared {weight: 2.5}
version: 1
name: shop
description: on
workflow: flow.yaml
cases:
  - {name: a, prompt: "12:30"}
  - {name: b, prompt: no, fixture: other}
agent: python3 play.py
env: {MODE: yes}
limits: {maxSteps: 3, maxMinutes: 0.5, maxElapsed: 2h}
protect: ["tests/**"]
judges:
  - {name: own, entry: judge.py, <<: *shared, repeat: 3, timeout: 5, schema: {type: object}}
setup: [git init]
teardown: ["true"]
commandTimeout: 7
tags: [x, "1"]
pass: 0.75
""",
    ).require()
    assert [(c.name, c.prompt, c.fixture) for c in task.cases] == [
        ("a", "12:30", None),
        ("b", "no", "other"),
    ]
    assert task.description == "on" and task.env == {"MODE": "yes"}, "YAML 1.2: these are texts"
    limits = task.limits
    assert (limits.max_steps, limits.max_minutes, limits.max_elapsed) == (3, 0.5, 7200)
    judge = task.judges[0]
    assert (judge.entry, judge.weight, judge.repeat, judge.timeout) == ("judge.py", 2.5, 3, 5.0)
    assert (task.setup, task.command_timeout) == (("git init",), 7.0)
    assert (task.tags, task.pass_) == (("x", "1"), 0.75)


def test_all_faults_are_told_at_once_each_at_its_place(tmp_path: Path) -> None:
    checked = read(
        tmp_path / "bad",
        """\
name: bad name
workflow: ../nope.yaml
promt: x
cases: [{name: a, prompt: b, fixture: nah}, {name: a}]
protect: [/etc, ../up]
limits: {maxSteps: -1, maxTokens: lots}
judges:
  - {name: a, builtin: duration, entry: x.py}
  - {name: a, entry: none.py, weight: -1, schema: {type: objekt}}
  - 12
""",
    )
    assert checked.value is None
    assert faults(checked) == [
        "1:1 bad-name",
        "2:1 missing-file",
        "3:1 unknown-key",
        "4:30 missing-fixture",
        "4:45 missing-key",
        "4:46 duplicate-name",
        "5:11 bad-glob",
        "5:17 bad-glob",
        "6:20 bad-value",
        "6:35 wrong-type",
        "8:5 judge-kind",
        "8:34 missing-file",
        "9:6 duplicate-name",
        "9:15 missing-file",
        "9:39 bad-value",
        "9:52 bad-schema",
        "10:5 wrong-type",
    ]
    unknown = next(each for each in checked.problems if each.code == "unknown-key")
    assert unknown.hint == "did you mean 'prompt'?"
    with pytest.raises(DefinitionError) as raised:
        checked.require()
    assert len(raised.value.problems) == len(checked.problems)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "wrong-type"),
        ("- a\n", "wrong-type"),
        ("a: [\n", "yaml-syntax"),
        ("a: !!python/name:os.system x\n", "tag"),
        (GOOD + "name: again\n", "duplicate-key"),
        (GOOD.replace("prompt: repair it\n", ""), "missing-key"),
        (GOOD + "cases: [{name: a, prompt: b}]\n", "prompt-and-cases"),
        (GOOD.replace("repair it", '"  "'), "blank-text"),
        (GOOD.replace("duration}", "duration, weight: 0}"), "no-judge"),
        (GOOD.replace("builtin: duration", "builtin: durration"), "bad-judge"),
        (GOOD + "version: 2\n", "bad-value"),
        (GOOD + "pass: .nan\n", "bad-number"),
        (GOOD + "env: {a-b: c}\n", "bad-name"),
    ],
)
def test_a_broken_task_is_refused_and_says_why(tmp_path: Path, text: str, code: str) -> None:
    checked = read(tmp_path / "t", text)
    assert checked.value is None
    assert code in [each.code for each in checked.problems]


def test_a_judge_within_the_fixture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fixture").mkdir()
    (tmp_path / "fixture" / "judge.py").write_text("")
    checked = read(tmp_path, GOOD.replace("builtin: duration", "entry: fixture/judge.py"))
    assert [each.code for each in checked.problems] == ["judge-in-fixture"]


def test_a_judge_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "judge.rb").write_text("")
    checked = read(tmp_path, GOOD.replace("builtin: duration", "entry: judge.rb"))
    assert [each.code for each in checked.problems] == ["not-executable"]
    assert checked.problems[0].hint == "`chmod +x judge.rb`"


def test_long_texts_may_be_included_from_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("do it\n", encoding="utf-8")
    task = read(tmp_path, GOOD.replace("repair it", "!include prompt.md")).require()
    assert task.cases[0].prompt == "do it\n"
    outside = read(tmp_path, GOOD.replace("repair it", "!include ../x.md"))
    assert [each.code for each in outside.problems] == ["include-outside"]
