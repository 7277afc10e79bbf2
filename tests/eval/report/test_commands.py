"""`uwf-eval report`, `list`, `diff`, `show` and `export` on a real store."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from report_kit import RUN, not_run, rich_run

from uwf_core.client import Client
from uwf_core.commands import main
from uwf_eval.cli.main import root
from uwf_eval.store.results import Results

Call = Callable[..., tuple[int, str, str]]
AFTER = "01K9ZZZZZZ0000000000000002"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two runs of forty trials."""
    folder = tmp_path_factory.mktemp("home")
    run, trials = rich_run()
    after = [replace(trial, run=AFTER, score=None if trial.score is None else 1.0,
                     passed=None if trial.score is None else True) for trial in trials]  # fmt: skip
    with Client.open(home=folder, cwd=folder, env={}) as client:
        results = Results(client)
        for each, its in ((run, trials), (replace(run, run=AFTER, name="after"), after)):
            results.save_run(each, [replace(not_run(t.number, t.cell), run=t.run) for t in its])
            results.save_trials(trial for trial in its if trial.state != "not_run")
    return folder


@pytest.fixture
def call(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:  # fmt: skip
    monkeypatch.setenv("UWF_HOME", str(home))

    def run(*words: str) -> tuple[int, str, str]:
        code = main(list(words), make_root=lambda: root("uwf-eval"))
        return code, *capsys.readouterr()

    return run


def test_the_report_is_json_in_a_pipe_and_the_newest_run_without_a_word(call: Call):
    code, out, _ = call("report")
    document = json.loads(out)
    assert (code, document["run"]["run"], document["overall"]["trials"]) == (0, AFTER, 40)
    assert document["overall"]["states"]["notRun"] == 1


def test_the_page_goes_into_a_file_and_the_report_is_printed_all_the_same(
    call: Call, tmp_path: Path
):
    file = tmp_path / "report.html"
    code, out, err = call("report", "nightly", "--html", str(file), "--format", "text")
    assert code == 0
    assert "15 of 38" in out
    assert str(file) in err
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("form", "start"),
    [("html", "<!doctype"), ("markdown", "# nightly"), ("junit", "<?xml"), ("json", "{")],
)
def test_each_form_is_printed_or_written(call: Call, tmp_path: Path, form: str, start: str):
    code, out, _ = call("report", "nightly", "--format", form)
    assert (code, out.startswith(start)) == (0, True)
    file = tmp_path / "report"
    code, nothing, _ = call("report", "nightly", "--format", form, "-o", str(file))
    assert (code, nothing) == (0, "")
    assert file.read_text(encoding="utf-8") == out


@pytest.mark.parametrize(("least", "code"), [("0.5", 0), ("0.9", 1)])
def test_min_score_decides_the_exit_code(call: Call, least: str, code: int):
    found, out, err = call("report", "nightly", "--min-score", least)
    assert found == code
    assert json.loads(out)["run"]["name"] == "nightly"
    assert ("--min-score" in err) == bool(code)


def test_a_file_that_cannot_be_written_changes_nothing(call: Call, tmp_path: Path):
    code, out, err = call("report", "--format", "html", "-o", str(tmp_path / "no" / "r.html"))
    assert (code, out) == (2, "")
    assert "cannot write the report" in err
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_not_there_is_an_error_with_a_cure(call: Call):
    code, out, err = call("report", "nope", "--format", "html")
    assert (code, out) == (2, "")
    assert err == "error: unknown run 'nope'\n  hint: `uwf eval list` shows all runs\n"


def test_list_shows_the_newest_run_first_with_its_states(call: Call):
    code, out, _ = call("list")
    runs = json.loads(out)["runs"]
    assert (code, [each["name"] for each in runs]) == (0, ["after", "nightly"])
    states = {"scored": 35, "failed": 2, "infraError": 1, "notRun": 1, "tampered": 1}
    assert runs[1]["states"] == states
    assert len(json.loads(call("list", "--limit", "1")[1])["runs"]) == 1


def test_compare_pairs_the_trials_of_both_runs(call: Call):
    code, out, _ = call("compare", "nightly", "after", "--trials", "3")
    document = json.loads(out)["changes"]
    assert (code, len(document["trials"]), document["changed"]) == (0, 3, 23)


def test_show_tells_with_which_command_to_read_on(call: Call):
    code, out, _ = call("show", "nightly/1")
    document = json.loads(out)
    assert (code, document["number"], document["run"]) == (0, 1, RUN)
    assert document["commands"][0] == f"uwf thread read {document['thread']}"


@pytest.mark.parametrize("word", ["nightly", "nightly/0", "nightly/99", "nope/1"])
def test_a_trial_that_is_not_there_is_an_error(call: Call, word: str):
    code, out, err = call("show", word)
    assert (code, out) == (2, "")
    assert "hint" in err


def test_export_of_a_trial_without_a_thread_says_so_and_writes_nothing(call: Call, tmp_path: Path):
    code, _, err = call("export", "nightly/40", "-o", str(tmp_path / "t.tar"))
    assert code == 2
    assert "has no thread" in err
    assert list(tmp_path.iterdir()) == []


def test_export_of_a_run_wants_a_folder_of_its_own(call: Call, tmp_path: Path):
    (tmp_path / "mine").write_text("")
    code, _, err = call("export", "nightly", "-o", str(tmp_path))
    assert code == 2
    assert "not empty" in err
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


def test_reading_writes_nothing(call: Call, home: Path):
    """Neither a report nor a list changes the store."""
    with sqlite3.connect(home / "store.db") as watcher:
        before = watcher.execute("PRAGMA data_version").fetchone()
        for words in (("list",), ("report", "nightly"), ("show", "nightly/1")):
            assert call(*words)[0] == 0
        assert watcher.execute("PRAGMA data_version").fetchone() == before
