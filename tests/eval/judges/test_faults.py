"""What is wrong with a judge is found before a run, with the key that has to change."""

import pytest

from uwf_core.client import Client
from uwf_eval.judges.api import judge_problems
from uwf_eval.task.model import JudgeSpec


@pytest.mark.parametrize(
    ("spec", "key", "words"),
    [
        ({"builtin": "duratoin"}, "builtin", "did you mean 'duration'"),
        ({"builtin": "command", "options": {"rum": "x"}}, "options", "did you mean 'run'"),
        ({"builtin": "command", "options": {"pattern": "("}}, "options", "regular expression"),
        ({"builtin": "command", "options": {"pattern": "x"}}, "options", "needs a group"),
        ({"builtin": "cost", "options": {"fullUsd": 2, "zeroUsd": 1}}, "options", "smaller"),
        ({"builtin": "token-stats", "options": {"a": 1}}, "options", "not a known key"),
        ({"builtin": "rubric", "options": {"criteria": []}}, "options", "at least one"),
        ({"plugin": "duratoin"}, "plugin", "did you mean duration"),
        ({"plugin": "command", "options": {"rum": "x"}}, "options", "did you mean 'run'"),
        ({"builtin": "rubric", "options": {"criteria": [{"name": 1}]}}, "options", "criteria"),
        ({"builtin": "rubric"}, "builtin", "no model is configured for judges"),
        ({"builtin": "hallucination"}, "builtin", "modelOverrides.judge"),
        ({"plugin": "upstream-consumption"}, "options", "no model is configured for judges"),
    ],
)
def test_a_fault_names_its_key_and_the_cure(tmp_path, spec, key, words):
    with Client.open(home=tmp_path / "home", cwd=tmp_path) as client:
        faults = judge_problems(JudgeSpec(name="j", **spec), client)
    assert {fault.key for fault in faults} == {key}
    assert words in " ".join(f"{fault.message} {fault.hint}" for fault in faults)


def test_a_good_judge_has_no_fault(tmp_path):
    with Client.open(home=tmp_path / "home", cwd=tmp_path) as client:
        for spec in ({"entry": "judge.py"}, {"builtin": "cost"}, {"plugin": "duration"}):
            assert list(judge_problems(JudgeSpec(name="j", **spec), client)) == []
