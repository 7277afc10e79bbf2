"""Three roles on the real Hermes: files, a rejection, the same session again, a question
to a past step, and what all of it used.
"""

import json
import os
import sqlite3
import time

import pytest
from hermes_world import World, processes_of, text_of, tool
from tests.step_parts import session_of

from uwf_core.testing.project import Project
from uwf_testing.model_server_script import ModelTurn, ModelUsage

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine

WORKFLOW = """
version: 1
name: build
description: One plans, one builds, one looks and is hard to please.
roles:
  planner:
    goal: Plan it.
    frontmatter:
      properties: {$status: {const: planned}, plan: {type: string}}
      required: [$status, plan]
  builder:
    goal: Build it.
    frontmatter:
      properties: {$status: {const: built}, file: {type: string}}
      required: [$status, file]
  reviewer:
    goal: Judge it.
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
graph:
  $START:
    new: {role: planner, prompt: "PLAN it."}
    resume: {role: planner, prompt: "Go on."}
  planner:
    planned: {role: builder, prompt: "BUILD-1: {{{plan}}}"}
  builder:
    built: {role: reviewer, prompt: "REVIEW {{{file}}}."}
  reviewer:
    approved: {role: $END, prompt: "Done."}
    rejected: {role: builder, prompt: "BUILD-2: {{{comments}}}"}
"""
USED = ModelUsage(input_tokens=100, output_tokens=7, cache_read_tokens=30)


def said(text, *calls):
    return {
        "text": text,
        "toolCalls": list(calls),
        "usage": {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 30},
    }


def deliver(status, **fields):
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\n$status: {status}\n{lines}---\nThat is it.\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("hermes"), os.environ["UWF_REAL_HERMES"])
    yield world
    world.close()


@pytest.fixture(scope="module")
def played(world):
    """The project, and what `uwf run` printed."""
    project = Project(world.root / "uwf")
    del project.env["UWF_DEFAULT_AGENT"]
    project.env.update(world.env)
    project.workflow("build", WORKFLOW)
    project.config(
        "defaultAgent: worker\nagents: {worker: {use: hermes, options: "
        f"{json.dumps({'command': world.program, 'home': str(world.home)})}}}}}\n"
    )
    write = tool("write_file", path="made.txt", content="first\n")
    mend = tool("terminal", command="echo second >> made.txt")
    reviews = [deliver("rejected", comments="more"), deliver("approved")]
    world.plan("PLAN it.", said(deliver("planned", plan="a file")))
    world.plan("BUILD-1", said("I write.", write), said("no frontmatter"))
    world.plan("Your reply was rejected", said(deliver("built", file="made.txt")))
    world.plan("BUILD-2", said("I mend.", mend), said(deliver("built", file="made.txt")))
    world.plan("REVIEW", *(said(each) for each in reviews))
    outcome = project.uwf("run", "./.workflow/build.yaml", "-p", "the task", seconds=400)
    assert outcome.exit_code == 0, outcome
    return project, outcome.document


def steps_of(project, document):
    listed = project.uwf("step", "list", document["thread"]).document["steps"][1:]
    return [project.uwf("step", "show", each["step"]).document for each in listed]


def test_it_runs_to_the_end_over_a_rejection(played):
    _, document = played
    roles = [step["role"] for step in document["steps"]]
    assert roles == ["planner", "builder", "reviewer", "builder", "reviewer"]
    assert document["status"] == "completed"


def test_files_are_really_written_by_its_tools(played):
    project, _ = played
    assert (project.folder / "made.txt").read_text() == "first\nsecond\n"


def test_the_second_visit_is_the_same_session(world, played):
    """Seen in what the model got: the first acp_process's messages, tool results and all."""
    _, document = played
    request = world.heard("BUILD-2")[0]
    earlier = "\n".join(text_of(message) for message in request.messages)
    assert "BUILD-1" in earlier
    assert "I write." in earlier
    assert "REVIEW" not in earlier
    first, second = (step for step in document["steps"] if step["role"] == "builder")
    assert first["agent"] == second["agent"]


def test_usage_is_what_the_server_reported_summed_over_the_correction(played):
    project, document = played
    counted = [
        tuple(step["usage"][key] for key in ("inputTokens", "outputTokens", "cacheReadTokens"))
        for step in document["steps"]
    ]
    per_call = (USED.input_tokens, USED.output_tokens, USED.cache_read_tokens)
    calls = (1, 3, 1, 2, 1)
    assert counted == [tuple(count * each for each in per_call) for count in calls]
    assert len(steps_of(project, document)[1]["corrections"]) == 1


def test_a_question_is_answered_from_a_fork_and_the_original_is_unchanged(world, played):
    project, document = played
    first, *_, step = (each["step"] for each in document["steps"] if each["role"] == "builder")
    session = next(
        session_of(each)["id"] for each in steps_of(project, document) if each["role"] == "builder"
    )
    before = messages_of(world, session)
    world.plan("Why did you do so?", answer_that_remembers)
    asked = project.uwf("step", "ask", step, "-p", "Why did you do so?", seconds=120)
    assert asked.exit_code == 0, asked
    assert "I remember" in asked.document["answer"]
    assert "original" in json.dumps(asked.document)
    assert messages_of(world, session) == before
    early = project.uwf("step", "ask", first, "-p", "Why did you do so?", seconds=120).document
    assert (early["answer"], early["continuation"]) == ("I know nothing of it.", "reconstructed")


def answer_that_remembers(request):
    knows = any("I mend." in text_of(message) for message in request.messages)
    return ModelTurn(text="I remember." if knows else "I know nothing of it.")


def messages_of(world, session):
    with sqlite3.connect(world.home / "state.db") as database:
        query = "SELECT role, content FROM messages WHERE session_id = ? ORDER BY id"
        return database.execute(query, (session,)).fetchall()


def test_nothing_is_left_of_it(world, played):
    deadline = time.monotonic() + 30
    while processes_of(str(world.root)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(str(world.root)) == []
    assert list(world.temporary.iterdir()) == []
