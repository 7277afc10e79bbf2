"""Sealed sets: the bar comes first, a side is fixed, the chain is whole, nothing is shown."""

import json
from pathlib import Path

import pytest
from desk import GOOD, NOTE, NULL, Desk
from tests.store_file import opened_store

from uwf_core.client import Client
from uwf_core.errors import BusyError, StoreError
from uwf_eval.store.results import Results
from uwf_improve.edit.catalog import Edits
from uwf_improve.sealed.catalog import Sets
from uwf_improve.sealed.records import SealedTest


def test_a_set_has_its_bar_before_the_first_trial_and_keeps_it(desk):
    done = desk.call(*desk.seal("--gain", "5%", "--guard", "cost=50%"))
    found = done.document
    assert done.exit_code == 0 and found["bar"]["smallestGain"] == 0.05
    assert found["sealed"] >= 12 and found["sealed"] + found["open"] == 26
    assert len(found["openTasks"]) == found["open"]
    again = desk.call(*desk.seal("--gain", "0%"))
    assert again.exit_code == 2 and "its bar is fixed" in again.stderr
    other = desk.call("seal", "others", "tasks")
    assert other.exit_code == 2 and "belongs to another set" in other.stderr
    twice = desk.call("seal", "others", "tasks", "tasks")
    assert twice.exit_code == 2 and "two tasks are called" in twice.stderr
    more = desk.call("seal", "notes", "tasks", "--add")
    assert more.exit_code == 2 and "has a task" in more.stderr


@pytest.mark.parametrize("words", [("--gain", "x"), ("--guard", "cost"), ("--guard", "luck=1"),
                                   ("--sealed", "3")])  # fmt: skip
def test_a_bar_that_makes_no_sense_is_rejected_and_nothing_is_stored(desk, words):
    assert desk.call(*desk.seal(*words)).exit_code == 2
    assert desk.call("list").document["sets"] == []


def test_too_few_sealed_tasks_are_refused_before_any_trial(tmp_path, desk):
    few = Desk(tmp_path / "few", cases=8)
    sealed = few.uwf("improve", *few.seal()).document
    assert sealed["sealed"] == 8
    edit = few.uwf("improve", *few.text("roles.writer.goal", GOOD)).document["edit"]
    done = few.uwf("improve", "decide", edit, "--set", "notes")
    assert done.exit_code == 2 and "at least 12" in done.stderr
    assert few.uwf("improve", "list").document["sets"][0]["tests"] == 0


def test_a_sealed_task_that_was_changed_later_is_noticed(desk):
    desk.call(*desk.seal())
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    with desk.client() as client:
        folder = Sets(client).folder("notes") / "tasks"
        name = Sets(client).read("notes").sealed[0].name
    (folder / name / "agent.sh").write_text("echo cheating")
    done = desk.call("decide", edit, "--set", "notes")
    assert done.exit_code == 2 and "has changed since it was sealed" in done.stderr
    assert name not in done.stderr


def test_a_chain_with_a_record_taken_out_is_rejected(desk):
    desk.call(*desk.seal())
    with desk.client() as client:
        sets = Sets(client)
        first = sets.read("notes")
        second = sets.append(first, "extended")
        assert sets.read("notes") == second
        name = client.nodes.name("@uwf/improve/set/notes/000002")
        forged = client.nodes.name("@uwf/improve/set/notes/000001")
        client.nodes.set_name("@uwf/improve/set/notes/000001", name.ref, forged.tags, forged)
        with pytest.raises(StoreError, match="does not follow"):
            sets.read("notes")


def test_deleting_the_newest_records_does_not_win_a_test_back(desk):
    """The chain that is left is whole; the end that was there is named outside of the store."""
    desk.call(*desk.seal())
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    with desk.client() as client:
        state = Sets(client).read("notes")
        for _ in range(2):
            state = Sets(client).append(state, "extended")
    [store] = Path(desk.env["UWF_HOME"]).glob("*.db")
    for last, word in ((3, "newest record"), (2, "newest 2 records"), (1, "newest 3 records")):
        with opened_store(store) as rows:
            name = f"@uwf/improve/set/notes/{last:06}"
            assert rows.execute("DELETE FROM variable WHERE name = ?", (name,)).rowcount == 1
        with desk.client() as client, pytest.raises(StoreError, match=word):
            Sets(client).read("notes")
    done = desk.call("decide", edit, "--set", "notes")
    assert done.exit_code != 0 and "deleted" in done.stderr
    again = desk.call(*desk.seal())
    assert again.exit_code != 0 and "deleted" in again.stderr


def test_an_older_end_of_a_set_replaces_no_newer_one(desk):
    desk.call(*desk.seal())
    overtaken = []

    class Slow(Sets):
        """Another process stores a record and its end between the record and the end of this."""

        def folder(self, name):
            if not overtaken:
                overtaken.append(name)
                Sets(client).append(Sets(client).read(name), "extended")
            return super().folder(name)

    with desk.client() as client:
        first = Sets(client).read("notes")
        assert Slow(client).append(first, "extended").number == 2
        assert Sets(client).read("notes").number == 3
        end = (Sets(client).folder("notes") / "head").read_text()
        assert (overtaken, end.split()[0]) == (["notes"], "3")
        with pytest.raises(BusyError):  # it was not the newest
            Sets(client).append(first, "extended")


def test_sealed_tasks_are_tested_four_times_and_then_only_after_others_are_added(desk):
    desk.call(*desk.seal())
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    with desk.client() as client:
        state = Sets(client).read("notes")
        spent = [
            SealedTest(number=number, level=state.bar.level(number), edit=f"{number:012}",
                       begun_at_ms=1, decided_at_ms=2, verdict="not accepted")
            for number in (1, 2, 3, 4)
        ]  # fmt: skip
        state = Sets(client).append(state, "decided", tests=spent[:3])
        planned = desk.call("decide", edit, "--set", "notes", "--dry-run")
        assert "test 4 of at most 4" in planned.stderr
        Sets(client).append(state, "decided", tests=spent)
    done = desk.call("decide", edit, "--set", "notes")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "the sealed tasks were tested 4 times" in done.stderr and "--add" in done.stderr
    assert desk.call("list").document["sets"][0]["tests"] == 4


def test_a_damaged_set_stops_no_other_set_and_its_tasks_stay_sealed(desk):
    """The error names this way out: seal a new set of new tasks."""
    desk.call(*desk.seal())
    with desk.client() as client:
        Sets(client).append(Sets(client).read("notes"), "extended")
    [store] = Path(desk.env["UWF_HOME"]).glob("*.db")
    with opened_store(store) as rows:
        rows.execute("DELETE FROM variable WHERE name = '@uwf/improve/set/notes/000002'")
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    assert "deleted" in desk.call("decide", edit, "--set", "notes").stderr
    stolen = desk.call("seal", "others", "tasks", "--sealed", "12")
    assert stolen.exit_code == 2 and "belongs to another set" in stolen.stderr
    new = {"version": 1, "name": "new", "workflow": "note.yaml", "agent": "mock", "prompt": "New.",
           "judges": [{"name": "form", "builtin": "frontmatter-compliance"}]}  # fmt: skip
    (desk.folder / "new").mkdir()
    (desk.folder / "new" / "note.yaml").write_text(NOTE)
    (desk.folder / "new" / "task.yaml").write_text(json.dumps(new))
    assert desk.call("seal", "others", "new", "--sealed", "12").document["sealed"] == 1
    listed = desk.call("list").document["sets"]
    assert [(each["set"], each["problem"] is None) for each in listed] == [
        ("notes", False), ("others", True),
    ]  # fmt: skip
    assert "was deleted" in desk.call("list", "--format", "text").stdout


def test_a_guard_that_no_trial_can_satisfy_is_refused_before_the_first_trial(desk):
    file = desk.folder / "tasks" / "agent.sh"
    file.write_text(file.read_text().replace(', "usage": {"costUsd": \'$price\'}', ""))
    desk.call("seal", "notes", "tasks", "--sealed", "25", "--repeat", "1", "--guard", "cost=20%")
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    tried = desk.uwf("improve", "try", edit, "--set", "notes").document
    assert tried["states"] == {"scored": 2}
    done = desk.call("decide", edit, "--set", "notes")
    assert done.exit_code == 2 and "no trial of open tasks reports one" in done.stderr
    assert desk.call("list").document["sets"][0]["tests"] == 0


def test_a_call_that_ends_before_its_first_trial_spends_nothing(desk):
    desk.call(*desk.seal())
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    for _ in range(2):
        done = desk.uwf("improve", "decide", edit, "--set", "notes", "--agent", "no-such-agent")
        assert done.exit_code == 2 and "unknown agent" in done.stderr
        assert "test 1 of at most 4" in done.stderr
    null = desk.call(*desk.text("roles.writer.goal", NULL)).document["edit"]
    planned = desk.call("decide", null, "--set", "notes", "--dry-run").stderr
    sealed = desk.call("list").document["sets"][0]["sealed"]
    assert f"test 1 of at most 4: {sealed} tasks x 1 x 2 = {2 * sealed} runs" in planned


def test_one_improvement_from_the_edit_to_the_written_file(desk):
    """Trials are processes: one set serves the whole story."""
    desk.call(*desk.seal("--guard", "cost=50%", "--gain", "5%"))
    null = desk.call(*desk.text("roles.writer.goal", NULL)).document["edit"]
    good = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    shown = desk.uwf("improve", "decide", null, "--set", "notes", "--jobs", "2")
    assert (shown.exit_code, shown.document["verdict"]) == (0, "not accepted")
    _shows_no_figure(desk, shown.stdout + shown.stderr)
    assert desk.call("report", null, "--apply").exit_code == 2
    assert "no figures" in desk.call("report", null).document["report"]
    again = desk.call(*desk.text("roles.writer.goal", f"{NULL} "))
    assert again.exit_code == 2 and "not accepted" in again.stderr

    found = desk.uwf("improve", "decide", good, "--set", "notes", "--jobs", "2")
    test = found.document["test"]
    assert (found.document["verdict"], test["number"], test["level"]) == ("accepted", 2, 0.0125)
    assert found.exit_code == 0
    assert 0 < test["low"] < test["gain"] <= 1
    report = desk.call("report", good, "--apply").document
    assert report["written"] == [str(desk.file)] and GOOD in desk.file.read_text()
    assert "better by at least" in report["report"]
    assert desk.call("report", good, "--apply").document["written"] == []
    names = [each["name"] for each in desk.uwf("eval", "list").document["runs"]]
    assert sorted(names) == ["notes.test.1", "notes.test.2"]
    _check_trials(desk, found.document["edit"])
    assert desk.call("list").document["sets"][0]["sealed"] == 0
    done = desk.call("open", "notes")
    assert done.exit_code == 2 and "no sealed tasks" in done.stderr


def _check_trials(desk: Desk, edit: str) -> None:
    """Both tests ran whole threads of both versions anew, interleaved."""
    with desk.client() as client:
        results = Results(client)
        champion = next(e for e, _ in Edits(client).all() if e.edit == edit).champion
        first, second = (
            [*results.trials(results.run(f"notes.test.{number}").run)] for number in (1, 2)
        )
        for trials in (first, second):
            order = sorted(trials, key=lambda each: each.started_at_ms or 0)
            half = [each.cell.workflow == champion for each in order[: len(order) // 2]]
            assert {*half} == {True, False}, "one side ran before the other"
            assert all(each.status == "completed" and each.recorded is None for each in trials)
    assert not {each.thread for each in first} & {each.thread for each in second}


def _shows_no_figure(desk: Desk, said: str) -> None:
    """No command shows a score of a sealed trial, nor that there are such runs."""
    assert not {"score", "passed", "gain"} & set(said.replace(":", " ").split())
    assert desk.uwf("eval", "list").document == {"runs": []}
    assert desk.uwf("eval", "report", "@last").exit_code == 2
    assert desk.uwf("thread", "list", "--all", "--trials").document["threads"] == []
    with desk.client() as client:
        env = {**desk.env, "UWF_STORE": Sets(client).sealed_store("notes")}
        with Client.open(env=env) as sealed:
            run = Results(sealed, sealed=True).runs()[0].run
    for words in (["list"], ["report", run], ["show", f"{run}/1"], ["report", "@last"],
                  ["export", run, "-o", "x"], ["diff", run, run], ["resume", run]):  # fmt: skip
        done = desk.uwf("eval", *words, env=env)
        assert "score" not in done.stdout and (done.exit_code == 2 or words == ["list"]), words
    assert json.loads(desk.uwf("eval", "list", env=env).stdout) == {"runs": []}
