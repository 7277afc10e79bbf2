"""The agents of the Agent Client Protocol that npm has, for real: the loop, and what ends it.

One home and one model for each program, and few calls: a start of opencode costs five seconds of
processor.
"""

import json
import os
import threading
from contextlib import contextmanager, suppress

import pytest
from acp_hostile import fill
from acp_world import PROGRAMS, AcpWorld, processes_of, tool

from uwf_core.api import AgentFailure
from uwf_core.client import Cancel
from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelError, ModelTurn

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine

WORKFLOW = """
version: 1
name: loop
roles:
  worker:
    goal: Work.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: again}}, required: [$status]}
        - {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: "FIRST do it."}
    resume: {role: worker, prompt: "Go on."}
  worker:
    again: {role: worker, prompt: "SECOND do it."}
    done: {role: $END, prompt: "Done."}
"""
USAGE = {"usage": {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 30}}
WRITES = {
    "opencode": tool("write", filePath="{cwd}/made.txt", content="made"),
    "qwen": tool("write_file", file_path="{cwd}/made.txt", content="made"),
    "claude": tool("Write", file_path="{cwd}/made.txt", content="made"),
    "codex": tool("exec_command", cmd="printf made > made.txt"),
    "gemini": tool("write_file", file_path="made.txt", content="made"),
    "goose": tool("write", path="{cwd}/made.txt", content="made"),
}
OPTIONS = {
    "codex": {"mode": "full-access"},  # its sandboxes need bubblewrap
    "qwen": {"mode": "default"},  # else a model judges each tool
    "claude": {"mode": "default"},
}
LOADS = {"opencode", "qwen", "claude", "codex", "goose"}
FORKS = {"opencode", "claude"}
REPEATS = {"opencode", "qwen"}
COUNTED = {
    "opencode": (100, 7, 30),
    "qwen": (200, 14, 60),
    "claude": (200, 14, 60),
    "codex": (None, None, None),
    "gemini": (260, 14, None),
    "goose": (130, 7, None),
}
"""Input, output and cached tokens of a turn with two requests, each as in `USAGE`."""


@pytest.fixture(scope="module", params=list(PROGRAMS))
def program(request):
    if PROGRAMS[request.param].variable not in os.environ:
        pytest.skip(f"{PROGRAMS[request.param].variable} names no program: `nox -s real_agents`")
    return request.param


@pytest.fixture(scope="module")
def world(program, tmp_path_factory):
    world = AcpWorld(tmp_path_factory.mktemp(program), PROGRAMS[program])
    yield world
    assert processes_of(str(world.root)) == []
    assert list(world.temporary.iterdir()) == []
    world.close()


@pytest.fixture(scope="module")
def played(world, program):
    """The project, and what `uwf run` printed."""
    project = Project(world.root / "uwf")
    del project.env["UWF_DEFAULT_AGENT"]
    project.env.update(world.env)
    project.workflow("loop", WORKFLOW)
    options = {
        "command": os.environ[PROGRAMS[program].variable],
        "permission": "allow",
        **OPTIONS.get(program, {}),
    }
    agent = {"use": PROGRAMS[program].agent.entry.point, "options": options}
    project.config(json.dumps({"agents": {"it": agent}, "defaultAgent": "it"}))
    write = json.loads(json.dumps(WRITES[program]).replace("{cwd}", str(project.folder)))
    world.plan("FIRST do", {**write, **USAGE, "text": "I write."}, {**USAGE, "text": said("again")})
    world.plan("SECOND do", {**USAGE, "text": said("done")})
    assert project.uwf("config", "trust").exit_code == 0
    outcome = project.uwf("run", "./.workflow/loop.yaml", "-p", "the task", seconds=200)
    assert outcome.exit_code == 0, outcome
    return project, outcome.document


def said(status):
    return f"---\n$status: {status}\n---\nThat is it.\n"


def test_a_role_enters_and_continues_its_session_or_says_that_it_cannot(world, program, played):
    project, document = played
    assert [step["role"] for step in document["steps"]] == ["worker", "worker"]
    assert (project.folder / "made.txt").read_text() == "made"
    first, second = (
        project.uwf("step", "show", each["step"]).document for each in document["steps"]
    )
    assert not first["corrections"] and not second["corrections"]
    sessions = [each["session"] for each in (first, second)]
    continued = (sessions[1]["id"] == sessions[0]["id"], sessions[1]["continuation"])
    assert continued == ((True, "continued") if program in LOADS else (False, "restarted"))
    heard = json.dumps(world.heard("SECOND do")[0].messages)
    assert "FIRST do" in heard or "That is it" in heard, "the session, or the history"
    names = ("inputTokens", "outputTokens", "cacheReadTokens")
    assert tuple(first["usage"].get(name) for name in names) == COUNTED[program]


@pytest.mark.skipif(
    "UWF_REAL_MORE" not in os.environ, reason="four starts each: set UWF_REAL_MORE=1"
)
def test_a_fork_of_the_thread_forks_the_session_or_begins_a_new_one(world, program, played):
    """The protocol copies a whole session, so a fork at an earlier step begins a new one."""
    project, document = played
    for prompt in ("SECOND do", "Go on."):
        world.plan(prompt, {**USAGE, "text": said("done")})
    earlier, last = (
        continued_in_a_fork(project, each["step"])["session"]["continuation"]
        for each in document["steps"]
    )
    assert (earlier, last) == ("new", "forked" if program in FORKS else "new")


def continued_in_a_fork(project, step):
    """The first step of a fork of the thread there."""
    thread = project.uwf("thread", "fork", step).document["thread"]
    is_over = project.uwf("thread", "show", thread).document["status"] == "completed"
    goes_on = ("resume", thread, "-p", "More.") if is_over else ("exec", thread)
    outcome = project.uwf("thread", *goes_on, seconds=200)
    assert outcome.exit_code == 0, outcome
    return project.uwf("step", "show", outcome.document["steps"][0]["step"]).document


def test_a_question_is_answered_from_the_session_and_changes_nothing(world, program, played):
    project, document = played
    write = json.loads(json.dumps(WRITES[program]).replace("made", "asked"))
    world.plan("Why did you?", write, {"text": "Because."})
    step = document["steps"][-1]["step"]
    asked = project.uwf("step", "ask", step, "-p", "Why did you?", seconds=120)
    assert asked.exit_code == 0, asked
    assert asked.document["answer"] == "Because."
    original = "original" if program in FORKS else "reconstructed"
    assert asked.document["continuation"] == original
    assert not (project.folder / "asked.txt").exists()


def fail(world, turn, *, until=9):
    """The failure of a call whose requests all get `turn`; it is cancelled at the last of them."""
    cancel, heard = Cancel(), []

    def answer(request):
        heard.append(request)
        if len(heard) >= until:
            cancel.set("enough")
        return turn

    with pytest.raises(AgentFailure) as failure:
        world.run(answer, cancel=cancel)
    assert failure.value.session
    return failure.value


@pytest.mark.parametrize("status", [429, 500])
def test_an_error_of_the_model_is_its_failure_or_is_repeated_until_the_limit(
    world, program, status
):
    turn = ModelTurn(error=ModelError(status=status, message="the script says so"))
    repeats = program in REPEATS
    failure = fail(world, turn, until=2 if repeats else 9)
    kind = {429: "rate_limited", 500: "unavailable"}[status]
    assert failure.kind.word == ("interrupted" if repeats else kind), failure.message


def test_an_answer_that_is_cut_is_no_answer(world, program):
    repeats = program == "opencode"  # qwen does not, here
    turn = ModelTurn(text="x" * 500, drop="middle")
    failure = fail(world, turn, until=2 if repeats else 9)
    kinds = {"opencode": "interrupted", "gemini": "max_turns"}  # as gemini itself calls it
    assert failure.kind.word == kinds.get(program, "unavailable"), failure.message


def test_a_refusal_is_told(world, program):
    turn = {
        "claude": ModelTurn(refusal="I will not."),
        "codex": ModelTurn(refusal="I will not."),
        "gemini": ModelTurn(text="No.", stop_reason="SAFETY"),
    }.get(program, ModelTurn(text="No.", stop_reason="content_filter"))
    if program in ("qwen", "gemini", "goose"):
        assert world.run(turn).text == "No.", "it takes it for an answer"
    else:
        kinds = {"codex": "empty"}  # it does not show what the model says then
        assert fail(world, turn).kind.word == kinds.get(program, "refused")


def test_a_cancel_ends_a_call_that_hangs_and_the_session_goes_on(world, program):
    failure = fail(world, ModelTurn(text="x", hang="start"), until=1)
    assert failure.kind.word == "interrupted"
    if program in LOADS:
        assert world.run("Here I am.", session=failure.session).text == "Here I am."


@pytest.mark.parametrize("trusted", [False, True])
def test_a_folder_that_is_not_trusted_runs_nothing_and_gets_no_key(
    world, program, trusted, tmp_path
):
    """With trust the same folder shows that its files would have done something."""
    obeys = {"opencode", "claude", "qwen", "goose"}  # the others have their own list of folders
    folder = tmp_path / "cloned"
    folder.mkdir()
    with ScriptedModel(["stolen"] * 50) as thief:
        fill(folder, tmp_path / "ran", thief)

        def acted():
            return [*tmp_path.glob("ran-*"), *thief.requests]

        if not trusted and program != "claude":
            with pytest.raises(AgentFailure, match="you do not trust that folder"):
                world.run("said", cwd=str(folder), trusted=False)
        elif program == "claude" or program in obeys:
            with suppress(AgentFailure), cancelled_when(acted) as cancel:  # it may never end there
                world.run("said", cwd=str(folder), trusted=trusted, cancel=cancel)
        assert bool(acted()) == (trusted and program in obeys)


@contextmanager
def cancelled_when(seen):
    """A token that is set as soon as something is seen."""
    cancel, over = Cancel(), threading.Event()

    def watch():
        while not (over.wait(0.1) or cancel.is_set()):
            if seen():
                cancel.set("seen")

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield cancel
    finally:
        over.set()
        watcher.join()
