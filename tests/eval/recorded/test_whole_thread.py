"""`uwf-eval new TASK --from-thread T`: a task from a whole thread, with the expected answer."""

import json

from office import TRIAGE, Office


def test_a_thread_becomes_a_task_with_its_prompt_and_a_persons_answer(office: Office):
    [thread] = office.record("fire in room 1", tags={"a": "b"})
    (office.folder / "start").mkdir()
    (office.folder / "start" / "letter.txt").write_text("tea in room 1")
    words = ("new", "tasks/fire", "--from-thread", thread, "--files", "start")
    made = office.document(*words, "--expect", "$status=later")
    assert made["expected"] == {"$status": "later"}
    folder = office.folder / "tasks" / "fire"
    assert json.loads((folder / "expected.json").read_text()) == {"$status": "later"}
    text = (folder / "task.yaml").read_text()
    assert "Answer our post." in text and f"source:{thread}" in text
    office.document("run", "tasks/fire", "--workflow", "./triage.yaml", "--agent", "sh careful.sh")
    _, [trial] = office.stored()
    assert (trial.state, trial.score) == ("scored", 1.0), trial.failure


def test_the_task_has_the_recorded_files_and_the_typed_input_of_the_thread(office: Office):
    """The files as they were before the first step; the agent changes them."""
    given = "input: {properties: {city: {type: string}}, required: [city]}\nrecord: true\nroles:"
    office.write("triage.yaml", TRIAGE.replace("roles:", given, 1))
    office.write("moves.sh", f'sh {office.folder}/careful.sh "$@" && echo read > letter.txt\n')
    place = office.folder / "post"
    place.mkdir()
    (place / "letter.txt").write_text("fire in Rome")
    with office.client() as client:
        thread = client.start("./triage.yaml", "Answer.", cwd=place, input={"city": "Rome"},
                              agent=f"sh {office.folder}/moves.sh")["thread"]  # fmt: skip
        client.exec(thread, until_done=True)
    assert (place / "letter.txt").read_text() == "read\n"
    office.document("new", "fire", "--from-thread", thread, "--expect", "$status=urgent")
    folder = office.folder / "fire"
    assert (folder / "fixture" / "letter.txt").read_text() == "fire in Rome"
    assert 'input: {"city": "Rome"}' in (folder / "task.yaml").read_text()
    office.document("run", "fire", "--workflow", "./triage.yaml", "--agent", "sh careful.sh")
    _, [trial] = office.stored()
    assert (trial.state, trial.score) == ("scored", 1.0), trial.failure


def test_without_an_answer_the_recorded_one_is_written_to_be_corrected(office: Office):
    [thread] = office.record("fire in room 1")
    done = office.eval("new", "fire", "--from-thread", thread)
    assert done.returncode == 0 and "correct it" in done.stderr and "no files" in done.stderr
    expected = json.loads((office.folder / "fire" / "expected.json").read_text())
    assert expected == {"$status": "urgent", "reason": "it burns"}
    for words, message in (
        (("fire", "--from-thread", thread), "not empty"),
        (("other", "--from-thread", thread, "--expect", "mood=good"), "no field 'mood'"),
        (("other", "--from-thread", thread, "--expect", "mood"), "FIELD=VALUE"),
        (("other", "--expect", "$status=later"), "--from-thread"),
        (("other", "--from-thread", "01NONE", "--expect", "$status=later"), "01NONE"),
    ):
        wrong = office.eval("new", *words)
        assert wrong.returncode == 2 and message in wrong.stderr, wrong.stderr
        assert not (office.folder / "other").exists()
