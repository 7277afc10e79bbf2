"""`uwf-eval run --from-…`: a recorded step is made again, alone, and compared with the record."""

import json
import signal
import time
from pathlib import Path

import pytest
from office import Office, letters
from tests.forms import form


def test_a_recorded_step_is_made_again_with_exactly_its_recorded_prompt(office: Office) -> None:
    """Nothing differs but the folder: the trial has its own, and the person's stays as it was."""
    [thread] = office.record("fire in the attic")
    step = office.step(thread, "sorter")
    log = office.folder / "log"
    log.unlink()
    found = office.document("run", "--from-step", step)
    assert (found["states"], found["score"]) == ({"scored": 1}, 1.0)
    _, [trial] = office.stored()
    made = trial.recorded
    assert made is not None and (made.step, made.thread, made.role) == (step, thread, "sorter")
    assert (made.status, made.got, made.session, made.prompt) == ("urgent", "urgent", "new", True)
    assert made.fields == {"reason": True} and made.files == "none"
    [call] = [json.loads(line) for line in log.read_text().splitlines()]
    assert call[0] == "sorter" and call[1] != str(office.folder), "one step, in its own folder"
    assert [each.role for each in trial.steps] == ["sorter"]
    with office.client() as client:
        recorded, again = client.prompt(step), client.prompt(str(trial.head))
        folder = str(client.show(str(trial.thread))["cwd"])
        assert again.replace(folder, str(office.folder)) == recorded


def test_the_first_step_of_a_thread_is_made_again_from_its_start(office: Office) -> None:
    [thread] = office.record("tea")
    (office.folder / "given").mkdir()
    (office.folder / "given/letter.txt").write_text("coffee")
    words = ("run", "--from-thread", thread, "--role", "reader", "--files", "given")
    assert office.document(*words)["score"] == 1.0
    _, [trial] = office.stored()
    assert trial.recorded is not None and trial.recorded.files == "fixture"
    assert trial.recorded.prompt is True and trial.recorded.fields == {"topic": False}


LETTERS = form(short=12, long=20)


@pytest.mark.timeout(600)
def test_of_recorded_runs_a_defective_role_is_found_and_an_equal_one_is_not(
    office: Office,
) -> None:
    """A blind clerk misses each fire; the twin does what the recorded one did."""
    office.record(*letters(LETTERS))
    found = office.document(
        *(
            "run",
            "--from-workflow",
            "triage",
            "--role",
            "sorter",
            "--newest",
            str(LETTERS),
            "--jobs",
            "2",
        ),
        *("--agent", office.word("careful"), "--agent", office.word("twin")),
        *("--agent", office.word("blind"), "--name", "many"),
    )
    assert found["states"] == {"scored": 3 * LETTERS}
    assert found["passed"] == 3 * LETTERS - LETTERS // 2
    compare = ("compare", "--by", "agent", "--run", "many", office.word("careful"))
    worse = office.document(*compare, office.word("blind"))
    assert worse["verdict"] == "worse" and worse["over"] == "case"
    assert worse["tested"][0]["tasks"] == LETTERS and worse["tested"][0]["lower"] == LETTERS // 2
    twin = office.document(*compare, office.word("twin"), "--fail-if", "worse")
    assert twin["verdict"] in ("no_difference", "cannot_tell")
    assert twin["tested"][0]["difference"] == 0.0
    fields = office.document(*compare, office.word("blind"), "--metric", "fields")
    assert fields["verdict"] == "worse"


def test_invalid_output_counts_as_a_failure_and_fields_are_compared_one_by_one(
    office: Office,
) -> None:
    office.record(*letters(4))
    words = ("run", "--from-workflow", "triage", "--role", "sorter")
    agents = ("--agent", office.word("silent"), "--agent", office.word("wordy"))
    assert office.document(*words, *agents)["states"] == {"failed": 2, "scored": 6}
    silent, wordy = office.document("report")["recorded"]
    assert silent["valid"]["value"] == 0.5 and silent["status"]["passed"] == 2
    assert silent["corrections"] == 4 and silent["sessions"] == {"new": 4}
    assert wordy["valid"]["value"] == wordy["status"]["value"] == 1.0
    assert [(each["name"], each["equal"]["value"]) for each in wordy["fields"]] == [("reason", 0)]
    assert (wordy["samePrompts"], wordy["prompts"], wordy["files"]) == (4, 4, {"none": 4})


def test_a_changed_workflow_is_tried_on_the_recorded_inputs_and_its_prompt_is_told(
    office: Office,
) -> None:
    office.record(*letters(2))
    text = (office.folder / "triage.yaml").read_text().replace("Decide how", "Decide carefully how")
    text = text.replace("name: triage", "name: changed")
    office.write("changed.yaml", text)
    office.document(
        *("run", "--from-workflow", "triage", "--role", "sorter"),
        *("--workflow", "recorded", "--workflow", "changed.yaml"),
    )
    recorded, changed = office.document("report")["recorded"]
    assert (recorded["samePrompts"], changed["samePrompts"], changed["prompts"]) == (2, 0, 2)
    assert recorded["configuration"] == "recorded" and changed["status"]["passed"] == 2
    found = office.document("compare", "recorded", "changed", "--by", "workflow")
    assert found["verdict"] == "cannot_tell"


def test_a_workflow_that_leads_elsewhere_is_rejected_before_the_first_trial(
    office: Office,
) -> None:
    office.record("tea")
    text = (office.folder / "triage.yaml").read_text()
    text = text.replace("name: triage", "name: short")
    text = text.replace("read: {role: sorter, ", "read: {role: $END, ")
    text = text.replace("resume: {role: reader", "resume: {role: sorter")
    office.write("short.yaml", text)
    words = ("run", "--from-workflow", "triage", "--role", "sorter", "--workflow", "short.yaml")
    done = office.eval(*words)
    assert done.returncode == 2 and "ends the thread before step" in done.stderr
    assert not office.runs()


def test_an_interrupted_run_of_recorded_steps_is_resumed(office: Office, tmp_path: Path) -> None:
    office.record(*letters(3))
    log, gate = tmp_path / "log", tmp_path / "go"
    careful = office.folder / "careful.sh"
    slow = f"echo x >> {log}; [ -e {gate} ] || [ $(wc -l < {log}) -lt 2 ] || sleep 600\n"
    office.write("slow.sh", slow + careful.read_text())
    words = ("--from-workflow", "triage", "--role", "sorter", "--agent", "sh slow.sh")
    process = office.start("run", *words)
    end = time.monotonic() + 60
    while not log.exists() or len(log.read_text().split()) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    gate.touch()
    found = office.document("resume", "@last")
    assert (found["states"], found["passed"]) == ({"scored": 3}, 3)


def test_judges_of_a_task_get_the_record_of_the_one_step_and_the_recorded_one(
    office: Office,
) -> None:
    office.record("fire", "tea")
    words = ("new", "mine", "--from-workflow", "triage", "--role", "sorter")
    assert office.document(*words)["name"] == "mine"
    file = office.folder / "mine/task.yaml"
    assert office.document("check", "mine")["valid"] is True
    judges = [
        {"name": "route", "builtin": "expected-route", "options": {"route": ["sorter"]}},
        {"name": "same", "entry": "same.py"},
    ]
    file.write_text(file.read_text() + f"judges: {json.dumps(judges)}\n")
    (office.folder / "mine/same.py").write_text(JUDGE)
    found = office.document("run", "mine", "--agent", office.word("blind"))
    _, trials = office.stored()
    assert [[each.score for each in trial.judges] for trial in trials] == [[1.0, 0.0], [1.0, 0.0]]
    assert found["score"] == 0.5


JUDGE = """\
import json, os
from uwf_core.client import Client
with Client.open() as uwf:
    [row] = uwf.list()
    steps = list(uwf.thread(row["thread"]).steps())
print(json.dumps({"score": float(steps[-1].output["reason"] == "it burns")}))
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from-step", "ZZZZ"), "unknown step"),
        (("--from-thread", "@last"), "need --role"),
        (("--from-thread", "@last", "--role", "cook"), "has the role 'cook'"),
        (("--from-workflow", "absent", "--role", "sorter"), "no thread has the workflow"),
        (("--role", "sorter"), "--role needs"),
        ((), "missing TASK, or recorded steps"),
    ],
)
def test_what_cannot_be_selected_is_an_error_with_a_cure(
    office: Office, words: tuple[str, ...], message: str
) -> None:
    office.record("tea")
    done = office.eval("run", *words)
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    assert done.returncode == 2 and message in error["message"] and error["hint"]
    assert not office.runs()
