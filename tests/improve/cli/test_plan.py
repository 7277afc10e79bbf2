"""`uwf improve seal --dry-run`: what a sealed test costs and can find."""

import json

import pytest

from uwf_core.commands import main
from uwf_improve.cli.main import command


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UWF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run(words: str):
        code = main(words.split(), None, lambda: command)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_the_plan_names_runs_and_the_gain_of_each_test(call, tmp_path):
    code, out, _ = call("seal bugs --dry-run")
    found = json.loads(out)
    assert (code, found["runs"]) == (0, 240)
    finds = [each["finds"] for each in found["tests"]]
    assert 0.17 < finds[0] < 0.19 and finds == sorted(finds)
    code, out, _ = call("seal bugs --sealed 40 --dry-run --format text")
    assert out.startswith("40 tasks x 3 x 2 = 240 runs\n") and "+18 points" in out
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("seal bugs --dry-run --sealed 11", "12"),
        ("seal bugs", "no TASK to seal"),
        ("seal bugs --add --dry-run", "exclude each other"),
        ("seal bugs --dry-run --repeat 0", "repeat"),
    ],
)
def test_a_plan_that_cannot_decide_is_refused_with_the_reason(call, words, message):
    code, out, err = call(words)
    assert (code, out) == (2, "")
    error = json.loads(err.splitlines()[-1])["error"]
    assert message in error["message"] + error.get("hint", "")


def test_help_names_every_command_with_an_example(call):
    code, out, _ = call("--help")
    assert code == 0 and all(f"  {name} " in out for name in command.rows)
    assert all("Example" in call(f"{name} --help")[1] for name in command.rows)
