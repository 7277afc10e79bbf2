"""`uwf improve plan`: what a sealed test costs and can find."""

import json

import pytest

from uwf_core.cli.main import main
from uwf_improve.cli.main import COMMANDS, ImproveGroup


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UWF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run(words: str):
        code = main(words.split(), None, ImproveGroup)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_the_plan_names_runs_cost_and_the_gain_of_each_test(call, tmp_path):
    code, out, _ = call("plan --tasks 40 --cost-per-trial 0.1")
    found = json.loads(out)
    assert (code, found["runs"], found["costUsd"]) == (0, 240, 24.0)
    finds = [each["finds"] for each in found["tests"]]
    assert 0.17 < finds[0] < 0.19 and finds == sorted(finds)
    code, out, _ = call("plan --tasks 40 --format text")
    assert out.startswith("40 tasks x 3 x 2 = 240 runs\n") and "+18 points" in out
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("plan --tasks 11", "at least 12"),
        ("plan --tasks -1", "at least 12"),
        ("plan --tasks 12 --alpha 0.0001", "cannot reach the level"),
        ("plan", "--tasks"),
        ("plan --tasks 40 --repeat 0", "repeat"),
    ],
)
def test_a_plan_that_cannot_decide_is_refused_with_the_reason(call, words, message):
    code, out, err = call(words)
    assert (code, out) == (2, "")
    error = json.loads(err.splitlines()[-1])["error"]
    assert message in error["message"] + error.get("hint", "")


def test_help_names_every_command_with_an_example(call):
    code, out, _ = call("--help")
    assert code == 0 and all(f"  {name} " in out for name in COMMANDS)
    assert all("Example" in call(f"{name} --help")[1] for name in COMMANDS)
