"""Three roles on the real Claude Code: a rejection, a correction, a question, a kill."""

import json
import os
import signal
import time

import pytest
from claude_code_peer import NEWER, OLDER, QUIET, texts, tool

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

WORKFLOW = """\
version: 1
name: three
roles:
  planner: &role
    goal: "Plan (THE PLANNER)."
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
  developer:
    goal: "Write hello.txt (THE DEVELOPER)."
    frontmatter:
      properties: {$status: {const: done}, lines: {type: integer}}
      required: [$status, lines]
  reviewer:
    goal: "Review (THE REVIEWER)."
    tools: [read_file, grep]
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
graph:
  $START:
    new: {role: planner, prompt: Make a plan.}
    resume: {role: planner, prompt: Again.}
  planner:
    done: {role: developer, prompt: Do it.}
  developer:
    done: {role: reviewer, prompt: Look at it.}
  reviewer:
    approved: {role: $END, prompt: Done.}
    rejected: {role: developer, prompt: "Mend it: {{{comments}}}"}
"""
GONE_SECONDS = 30.0


def used(number):
    """A usage that tells which turn it belongs to in its sum."""
    return {"inputTokens": 10**number, "outputTokens": 2 * 10**number}


def write(project, text):
    return tool("Write", file_path=str(project.folder / "hello.txt"), content=text)


def turns(project):
    edit = {"old_string": "hello", "new_string": "hello, world"}
    path = str(project.folder / "hello.txt")
    said = [
        {"text": "---\n$status: done\n---\nThe plan."},
        write(project, "hello"),
        {"text": "---\n$status: done\nlines: many\n---\n"},
        {"text": "---\n$status: done\nlines: 1\n---\nI wrote it."},
        tool("Read", file_path=path),
        {"text": "---\n$status: rejected\ncomments: greet the world\n---\nNo."},
        tool("Edit", file_path=path, **edit),
        {"text": "---\n$status: done\nlines: 1\n---\nI mended it."},
        {"text": "---\n$status: approved\n---\nYes."},
    ]
    return [{**turn, "usage": used(number % 5)} for number, turn in enumerate(said)]


@pytest.fixture(params=[OLDER, NEWER])
def project(request, tmp_path):
    made = Project(tmp_path)
    (tmp_path / "user").mkdir()
    (tmp_path / "tmp").mkdir()
    options = {"command": os.environ[request.param], "allowedTools": ["Bash"]}
    agents = {"coder": {"use": "claude-code", "options": options}}
    made.config(json.dumps({"agents": agents}))
    made.workflow("three", WORKFLOW)
    made.env |= {"UWF_DEFAULT_AGENT": "coder", "TMPDIR": str(tmp_path / "tmp"), **QUIET}
    return made


def transcripts(project):
    folder = project.home.parent / "user" / ".claude" / "projects"
    return {file.stem: file for file in folder.glob("*/*.jsonl")}


def conversation(request):
    return "\n".join(text for message in request.messages for text in texts(message))


def test_a_rejection_goes_back_into_the_session_that_wrote(project):
    forked = {"text": "---\n$status: done\nlines: 1\n---\nI mended it differently."}
    with ScriptedModel([*turns(project), "Because.", forked], side_text="A title") as model:
        project.env["ANTHROPIC_BASE_URL"] = model.anthropic_url
        done = project.uwf("run", "./.workflow/three.yaml", "-p", "THE TASK", seconds=110)
        assert done.exit_code == 0, done.stderr
        steps = done.document["steps"]
        asked = [request for request in model.requests if request.turn is not None]
        before = {name: file.read_bytes() for name, file in transcripts(project).items()}
        question = ("step", "ask", steps[1]["step"], "-p", "Why so?")
        answer = project.uwf(*question, seconds=60)
        as_of_two = conversation(model.requests[-1])
        after = transcripts(project)
        fork = project.uwf("thread", "fork", steps[2]["step"]).document["thread"]
        again = project.uwf("thread", "exec", fork, seconds=60).document["steps"][0]
        as_of_three = conversation(model.requests[-1])
    assert [step["role"] for step in steps] == [
        *("planner", "developer", "reviewer", "developer", "reviewer")
    ]
    assert (project.folder / "hello.txt").read_text() == "hello, world"

    known = conversation(asked[6])
    assert "Mend it: greet the world" in known
    assert "I wrote it." in known, "the second acp_process knows the first"
    assert "Write hello.txt (THE DEVELOPER)." in known
    for request in asked[4:6]:
        assert (
            "I wrote it."
            not in conversation(request).replace("## Step 2", "").split("THE REVIEWER")[0]
        ), "a reviewer has a session of its own"

    expected = [(0, 0), (1, 2, 3), (4, 0), (1, 2), (3,)]
    for step, numbers in zip(steps, expected, strict=True):
        numbers = numbers if step is not steps[0] else (0,)
        assert step["usage"]["inputTokens"] == sum(10**number for number in numbers)
        assert step["usage"]["outputTokens"] == sum(2 * 10**number for number in numbers)
        assert step["usage"]["costUsd"] > 0
    shown = [project.uwf("step", "show", step["step"]).document for step in (steps[1], steps[3])]
    assert shown[0]["session"]["id"] == shown[1]["session"]["id"]
    assert shown[1]["session"]["continuation"] == "continued"
    assert len(shown[0]["corrections"]) == 1

    assert answer.exit_code == 0, answer.stderr
    assert (answer.document["answer"], answer.document["continuation"]) == ("Because.", "original")
    for known in (as_of_two, as_of_three):
        assert "I wrote it." in known
        assert "I mended it." not in known, "what happened later"
    assert "Mend it: greet the world" not in as_of_two
    assert (
        project.uwf("step", "show", again["step"]).document["session"]["continuation"] == "forked"
    )
    assert {name: after[name].read_bytes() for name in before} == before, "nothing else changed"
    assert len(after) == len(before) + 1
    assert [path for path in (project.home.parent / "tmp").iterdir() if path.is_file()] == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("project", [NEWER], indirect=True)
def test_a_run_that_is_ended_in_a_tool_leaves_no_process_and_goes_on_in_its_session(
    project, number
):
    sleep = tool("Bash", command="echo x > begun; setsid sleep 61 & sleep 62")
    said = ["---\n$status: done\n---\nThe plan.", "---\n$status: done\nlines: 1\n---\n"]
    said += ["---\n$status: approved\n---\n"]
    with ScriptedModel([sleep, *said], side_text="A title") as model:
        project.env |= {"ANTHROPIC_BASE_URL": model.anthropic_url, "MARK_OF_THE_TEST": "it"}
        child = project.start_uwf("run", "./.workflow/three.yaml", "-p", "THE TASK")
        deadline = time.monotonic() + 60
        while not (project.folder / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        thread = project.uwf("thread", "list").document["threads"][0]
        child.send_signal(number)
        child.communicate(timeout=60)
        wait_until_gone()
        shown = project.uwf("thread", "show", thread["thread"]).document
        assert (shown["status"], shown["suspendReason"]) == ("suspended", "interrupted")
        done = project.uwf("thread", "exec", thread["thread"], "--until-done", seconds=90)
        assert done.document["status"] == "completed", done.stderr
        assert "THE TASK" in conversation(model.requests[-3])
        again = next(request for request in model.requests if request.turn == 1)
    assert "sleep 61" in json.dumps(again.body), "the session is the one that was interrupted"
    assert child.returncode == (-9 if number == signal.SIGKILL else 130)


def wait_until_gone():
    """No process of the tool's is left 3 s later, not even one in a session of its own."""
    deadline = time.monotonic() + GONE_SECONDS
    while sleepers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sleepers() == []


def sleepers():
    found = []
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if words[:2] in ([b"sleep", b"61"], [b"sleep", b"62"]):
                found.append(int(entry))
    return found
