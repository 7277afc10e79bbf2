"""What a trial of a recorded step gets: session, files and call; and which steps are rejected."""

import json
import subprocess
from pathlib import Path

import pytest
from office import TRIAGE, Office

LOOP = """\
version: 1
name: loop
roles:
  writer:
    goal: Write.
    frontmatter:
      properties: {$status: {const: done}, text: {type: string}}
      required: [$status, text]
  reader:
    goal: Read.
    frontmatter:
      oneOf:
        - properties: {$status: {const: good}}
          required: [$status]
        - properties: {$status: {const: again}}
          required: [$status]
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: Write more.}
  writer:
    done: {role: reader, prompt: "Read: {{{text}}}"}
  reader:
    good: {role: $END, prompt: Fine.}
    again: {role: writer, prompt: Write it again.}
"""
PLAY = """\
steps:
  - {role: writer, output: {$status: done, text: one}}
  - {role: reader, output: {$status: again}}
  - {role: writer, output: {$status: done, text: two}}
  - {role: reader, output: {$status: good}}
"""
OUTER = """\
version: 1
name: outer
roles:
  desk: {workflow: ./triage.yaml}
  clock:
    program: {run: ["true"]}
graph:
  $START:
    new: {role: desk, prompt: Sort our post.}
    resume: {role: desk, prompt: More.}
  desk:
    urgent: {role: $END, prompt: Done.}
    later: {role: $END, prompt: Done.}
"""


def made(office: Office, *words: str) -> dict[str, object]:
    """The trial of a run of one recorded step."""
    office.document("run", *words)
    _, [trial] = office.stored()
    assert trial.state == "scored" and trial.recorded is not None, trial.failure
    from uwf_core.fields.records import write_record

    found: dict[str, object] = write_record(trial.recorded)
    return found


def test_a_session_is_forked_as_it_was_before_the_step_or_the_report_says_that_it_was_not(
    office: Office,
) -> None:
    """The recorded session is not touched; an agent without it gets the prompt of a new one."""
    office.write("loop.yaml", LOOP)
    office.write("play.yaml", PLAY)
    office.env["UWF_MOCK_SCRIPT"] = str(office.folder / "play.yaml")
    with office.client() as client:
        thread = client.start("./loop.yaml", "A letter.", cwd=office.folder, agent="mock")["thread"]
        assert client.exec(thread, until_done=True).document["status"] == "completed"
        second = [each for each in client.thread(thread).steps() if each.role == "writer"][1]
        assert second.node["attempt"]["ownSession"]
    found = made(office, "--from-step", second.ref)
    assert (found["session"], found["prompt"]) == ("forked", True)
    office.write("other.sh", """echo '{"output": {"$status": "done", "text": "two"}}'\n""")
    found = made(office, "--from-step", second.ref, "--agent", "sh other.sh")
    assert (found["session"], found["prompt"], found["fields"]) == ("fresh", False, {"text": True})
    [report] = office.document("report")["recorded"]
    assert report["sessions"] == {"fresh": 1} and report["prompts"] == 0


def test_a_trial_begins_with_the_recorded_files_of_its_step(office: Office) -> None:
    """Those before the step, whatever happened to the folder since; `--files` replaces them."""
    office.write("triage.yaml", TRIAGE.replace("version: 1\n", "version: 1\nrecord: true\n"))
    [thread] = office.record("fire downstairs")
    office.write("letter.txt", "something else")
    step = office.step(thread, "reader")
    found = made(office, "--from-step", step)
    assert (found["files"], found["fields"], found["prompt"]) == ("recorded", {"topic": True}, True)
    _, [trial] = office.stored()
    (office.folder / "given").mkdir()
    (office.folder / "given/letter.txt").write_text("tea")
    found = made(office, "--from-step", step, "--files", "given")
    assert (found["files"], found["fields"]) == ("fixture", {"topic": False})
    _, [given] = office.stored()
    assert given.fixture != trial.fixture, "trials with other files are not paired"


def test_a_step_in_a_worktree_needs_no_worktree_of_its_own(office: Office) -> None:
    text = TRIAGE.replace("version: 1\n", "version: 1\nworkspace: worktree\nrecord: true\n")
    office.write("triage.yaml", text)
    office.write("letter.txt", "fire")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm begin"):
        subprocess.run(["git", *words.split()], cwd=office.folder, check=True)
    [thread] = office.record("fire upstairs")
    found = made(office, "--from-thread", thread, "--role", "reader")
    assert (found["files"], found["fields"], found["prompt"]) == ("recorded", {"topic": True}, True)


def test_a_step_of_a_called_thread_is_made_again_with_the_call_in_its_prompt(
    office: Office,
) -> None:
    text = OUTER.replace('  clock:\n    program: {run: ["true"]}\n', "")
    office.write("outer.yaml", text)
    with office.client() as client:
        office.write("letter.txt", "fire")
        given = {"cwd": office.folder, "agent": f"sh {office.folder}/careful.sh"}
        thread = client.start("./outer.yaml", "Our post.", **given)["thread"]
        assert client.exec(thread, until_done=True).document["status"] == "completed"
    found = made(office, "--from-thread", thread, "--role", "desk/sorter")
    assert (found["role"], found["got"], found["prompt"]) == ("sorter", "urgent", True)
    done = office.eval("run", "--from-thread", thread, "--role", "desk")
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    assert "is a call" in error["message"] and "which it called" in error["hint"]


def test_the_step_of_a_person_is_a_reference_that_an_agent_can_be_tried_on(
    office: Office,
) -> None:
    text = TRIAGE.replace("  sorter:\n    goal", "  sorter:\n    human: true\n    goal")
    office.write("triage.yaml", text)
    [thread] = office.record("fire")
    with office.client() as client:
        answer = '{"$status": "urgent", "reason": "it burns"}'
        client.resume(thread, answer=answer, until_done=True)
    step = office.step(thread, "sorter")
    done = office.eval("run", "--from-step", step)
    assert done.returncode == 2 and "a person plays the role sorter" in done.stderr
    found = made(office, "--from-step", step, "--agent", office.word("careful"))
    assert (found["got"], found["fields"]) == ("urgent", {"reason": True})


def test_a_failed_attempt_is_rejected_with_the_place_of_a_better_step(office: Office) -> None:
    office.write("bad.sh", "exit 1\n")
    [thread] = office.record("tea", agent=f"sh {office.folder}/bad.sh")
    with office.client() as client:
        [failed] = client.thread(thread).pending
    done = office.eval("run", "--from-step", failed.ref)
    assert done.returncode == 2 and "is a failed attempt (crashed)" in done.stderr


@pytest.mark.parametrize("key", ["prompt", "step"])
def test_check_reports_each_wrong_case_at_its_line(
    office: Office, key: str, tmp_path: Path
) -> None:
    folder = office.folder / "t"
    folder.mkdir()
    given = {"name": "a", key: "ABCD"}
    both = {"name": "b", "prompt": "x", "step": "ABCD"}
    (folder / "task.yaml").write_text(json.dumps({"name": "t", "cases": [given, both]}))
    found = office.document("check", "t", code=4)
    codes = {each["code"] for each in found["problems"]}
    assert {"prompt-and-step", "bad-step"} <= codes
    assert ("missing-key" in codes) == (key == "prompt")
