"""Judges of other distributions: installed is usable, and their faults stay theirs."""

import time

import pytest

from uwf_eval.task.model import JudgeSpec

METADATA = (
    "Metadata-Version: 2.1\nName: uwf-judge-odd\nVersion: 1.2\nRequires-Dist: uwf-core>=0.1,<1\n"
)
MODULE = """
import sys
from dataclasses import dataclass
from uwf_core.api import JudgeReply, JudgeSpec, hookimpl

@dataclass(frozen=True, kw_only=True)
class Options:
    file: str = "README.md"

class Odd:
    def __init__(self, options, context):
        if self.__class__.__name__ == "Unmade":
            raise OSError("no disk")
        self.options = options

class Good(Odd):
    def judge(self, request):
        print("noise")
        return JudgeReply(score=0.5, data={
            "file": request.options.file, "same": request.options is self.options,
            "prompt": request.record["prompt"],
            "fixture": request.fixture, "cwd": request.cwd})

class Unmade(Good):
    pass

class Raises(Odd):
    def judge(self, request):
        raise KeyError("what")

class Exits(Odd):
    def judge(self, request):
        sys.exit(0)

class Wrong(Odd):
    def judge(self, request):
        return 1.0

class Nan(Odd):
    def judge(self, request):
        return JudgeReply(score=float("nan"))

class Unsayable(Odd):
    def judge(self, request):
        return JudgeReply(score=1.0, data={"a": {1, 2}})

class Waits(Odd):
    def judge(self, request):
        request.cancel.wait(60)
        return JudgeReply(score=1.0)

class NoJudge(Odd):
    pass

NAMES = "Good Unmade Raises Exits Wrong Nan Unsayable Waits NoJudge".split()

@hookimpl
def uwf_judges():
    return [JudgeSpec(name=n.lower(), summary="odd", factory=f"odd_judges:{n}",
                      options="odd_judges:Options") for n in NAMES]
"""
NAMES = ["good", "unmade", "raises", "exits", "wrong", "nan", "unsayable", "waits", "nojudge"]


@pytest.fixture
def ask(bench, thread, tmp_path, monkeypatch):
    """Asks a judge of a distribution that was just installed."""
    place = tmp_path / "installed"
    info = place / "uwf_judge_odd-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    lines = [f"{name} = odd_judges" for name in NAMES]
    (info / "entry_points.txt").write_text("\n".join(["[uwf.judges]", *lines, ""]))
    (place / "odd_judges.py").write_text(MODULE)
    monkeypatch.syspath_prepend(place)
    monkeypatch.delitem(__import__("sys").modules, "odd_judges", raising=False)
    with thread.project.client() as client:

        def call(name, **spec):
            return bench.ask(JudgeSpec(name="j", plugin=name, **spec), client=client)[0]

        yield call


def test_an_installed_judge_is_asked_with_its_options_and_prints_nothing(ask, bench, capfd):
    capfd.readouterr()
    result = ask("good", options={"file": "NOTES.md"})
    assert (result.score, result.judge, result.error) == (0.5, "plugin:good", None)
    assert result.data["file"] == "NOTES.md" and result.data["prompt"].startswith("The total")
    assert result.data["same"], "the factory and the request have other options"
    assert result.data["cwd"] != str(bench.trial)
    assert "noise" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unmade", "its factory failed: OSError: no disk"),
        ("raises", "KeyError: 'what'"),
        ("exits", "SystemExit"),
        ("wrong", "it returned float, not a JudgeReply"),
        ("nan", "not within 0 and 1"),
        ("unsayable", "data.a"),
        ("nojudge", "its factory returned NoJudge, which has no judge(request)"),
        ("god", "did you mean"),
    ],
)
def test_whatever_is_wrong_with_it_is_told_with_its_name_and_is_no_score(ask, name, words):
    result = ask(name)
    assert result.score is None
    assert words in result.error


def test_wrong_options_name_the_judge_and_the_key(ask):
    result = ask("good", options={"fiel": "x"})
    assert (
        "judges -> j -> options -> fiel" in result.error and "did you mean 'file'" in result.error
    )


def test_one_that_takes_too_long_is_told_so(ask):
    started = time.monotonic()
    result = ask("waits", timeout=0.1)
    assert result.score is None and "timed out after 0.1 s" in result.error
    assert time.monotonic() - started < 30, "it hears that its time is over"
