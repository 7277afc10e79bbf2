"""`uwf improve try --from-step`: an edit is screened on recorded steps, never on sealed ones."""

import pytest
from desk import GOOD, NOTE, Desk

from uwf_eval.store.results import Results

TWO = NOTE.replace(
    "    written: {role: $END,",
    '    written: {role: reader, prompt: "Read {{{text}}}"}\n  reader:\n    read: {role: $END,',
).replace(
    "graph:\n",
    "  reader:\n    goal: Read it.\n    frontmatter: {properties: {$status: {const: read}}, "
    "required: [$status]}\ngraph:\n",
).replace('prompt: "Done: {{{text}}}"', "prompt: Done.")  # fmt: skip
READER = """\
case "$*" in *"--role reader"*) echo '{"output": {"$status": "read"}}'; exit;; esac
"""


@pytest.fixture
def recorded(desk: Desk) -> list[str]:
    """Two threads of the workflow with two roles, and the folder `given` for their steps."""
    desk.workflow("note", TWO)
    for place in (desk.folder, desk.folder / "tasks"):
        text = (desk.folder / "tasks" / "agent.sh").read_text()
        (place / "agent.sh").write_text(text if place.name == "tasks" else READER + text)
    (desk.folder / "given").mkdir()
    (desk.folder / "given" / "topic.txt").write_text("topic 7")
    threads = []
    with desk.client() as client:
        for number in range(2):
            place = desk.folder / f"topic-{number}"
            place.mkdir()
            (place / "topic.txt").write_text("topic 7")
            agent = f"sh {desk.folder}/agent.sh"
            thread = client.start("note", f"Note {number}", cwd=place, agent=agent)["thread"]
            assert client.exec(thread, until_done=True).document["status"] == "completed"
            threads.append(thread)
    return threads


def steps_of(desk: Desk, thread: str) -> dict[str, str]:
    with desk.client() as client:
        return {each.role: each.ref for each in client.thread(thread).steps()}


def test_one_step_of_each_version_runs_and_nothing_of_it_is_evidence(desk, recorded):
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    words = ("improve", "try", edit, "--from-workflow", "note", "--role", "writer",
             "--files", "given", "--judges", "tasks")  # fmt: skip
    done = desk.uwf(*words)
    found = done.document
    assert (done.exit_code, found["screening"], found["set"]) == (0, True, None), done.stderr
    assert (found["trials"], found["states"]) == (4, {"scored": 4})
    with desk.client() as client:
        run = Results(client).run(found["run"])
        trials = Results(client).trials(found["run"])
    before, after = ([t.score for t in trials if t.cell.workflow == ref] for ref in run.workflows)
    assert run.name.startswith(f"screen.{edit}.") and (before, after) == ([0, 0], [1, 1])
    assert [[step.role for step in each.steps] for each in trials] == [["writer"]] * 4
    again = desk.uwf(*words)
    assert again.document["run"] == found["run"] and again.stderr == ""
    assert desk.call("list").document["edits"][0]["state"] == "drafted"
    text = desk.uwf(*words, "--format", "text").stdout
    assert "(a screening)" in text and f"--run {found['run']}" in text


def test_the_search_meets_no_thread_of_a_sealed_task_and_a_screened_one_is_open(desk, recorded):
    first, second = recorded
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    for name, thread in (("one", first), ("two", second)):
        made = desk.uwf("eval", "new", name, "--from-thread", thread, "--files", "given")
        assert made.exit_code == 0, made.stderr
    assert desk.call("seal", "fresh", "one", "--sealed", "12").document["sealed"] == 1
    step = steps_of(desk, first)["writer"]
    refused = desk.call("try", edit, "--from-step", step, "--files", "given")
    assert refused.exit_code == 2 and "sealed tasks were made" in refused.stderr
    with desk.client() as client:
        fork = client.fork(steps_of(desk, first)["reader"])["thread"]
        assert client.thread(fork).start == client.thread(first).start
    forked = desk.call("try", edit, "--from-thread", fork, "--role", "writer", "--files", "given")
    assert forked.exit_code == 2 and "sealed tasks were made" in forked.stderr
    shown = desk.call("reflect", "note").document
    assert (shown["threads"], shown["sealed"]) == (1, 2)
    every = ("--from-workflow", "note", "--role", "writer", "--files", "given")
    screened = desk.uwf("improve", "try", edit, *every)
    assert screened.document["trials"] == 2 and "left out: 1 steps" in screened.stderr
    seen = desk.call("seal", "fresh", "two", "--add").document
    assert (seen["sealed"], seen["openTasks"]) == (1, ["two"])


def test_what_the_author_of_an_edit_was_shown_is_open(desk, recorded):
    [thread, _] = recorded
    from uwf_improve.edit.draft import Draft, draft_edit

    texts = {"note.yaml": TWO.replace("Write a note about the topic.", GOOD)}
    with desk.client() as client:
        step = steps_of(desk, thread)["writer"]
        draft_edit(client, Draft(file=desk.file, texts=texts, seen=[step]))
    desk.uwf("eval", "new", "one", "--from-thread", thread, "--files", "given")
    assert desk.call("seal", "fresh", "one", "--sealed", "12").document["openTasks"] == ["one"]


def test_requests_that_make_no_sense_are_rejected_before_any_trial(desk, recorded):
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    steps = steps_of(desk, recorded[0])
    for words, message in (
        ((), "either --set or recorded steps"),
        (("--set", "bugs", "--from-step", steps["writer"]), "either --set or recorded steps"),
        (("--set", "bugs", "--judges", "tasks"), "--judges needs recorded steps"),
        (("--from-workflow", "note"), "need --role"),
        (("--from-step", "01NONE"), "01NONE"),
    ):
        done = desk.call("try", edit, *words)
        assert done.exit_code == 2 and message in done.stderr, done.stderr
    desk.workflow("other", TWO.replace("name: note", "name: other"))
    other = desk.call("propose", "other", "--text", f"roles.writer.goal={GOOD}").document["edit"]
    strange = desk.call("try", other, "--from-step", steps["writer"])
    assert strange.exit_code == 2 and "is of the workflow 'note'" in strange.stderr
    with desk.client() as client:
        assert Results(client).runs() == []


def test_steps_that_an_edit_does_not_touch_are_named(desk, recorded):
    edit = desk.call(*desk.text("roles.writer.goal", GOOD)).document["edit"]
    done = desk.uwf("improve", "try", edit, "--from-step", steps_of(desk, recorded[0])["reader"])
    assert done.exit_code == 0 and "changes no text of the role 'reader'" in done.stderr
