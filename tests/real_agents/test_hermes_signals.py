"""The real Hermes under `uwf`: whatever stops it, its whole tree goes and its session goes on."""

import json
import os
import signal
import time

import pytest
from hermes_world import World, processes_of, text_of, tool

from uwf_core.testing.project import Project

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine

WORKFLOW = """
version: 1
name: one
description: One role.
roles:
  worker:
    goal: Work.
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: worker, prompt: "BEGIN it."}
    resume: {role: worker, prompt: "Go on."}
  worker:
    done: {role: $END, prompt: "Done."}
"""
DONE = "---\n$status: done\n---\n"
IN_TOOL = {"text": "I wait.", "toolCalls": [tool("terminal", command="sleep 600")]}
IN_BACKGROUND = {"toolCalls": [tool("terminal", command="sleep 600", background=True)]}
WAITING = {"text": "x", "hang": "start"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("hermes"), os.environ["UWF_REAL_HERMES"])
    yield world
    world.close()


@pytest.fixture
def project(world, tmp_path):
    project = Project(tmp_path)
    project.env.update(world.env, UWF_DEFAULT_AGENT="worker")
    project.workflow("one", WORKFLOW)
    project.config(
        "limits: {graceSeconds: 2}\nagents: {worker: {use: hermes, options: "
        f"{json.dumps({'command': world.program, 'home': str(world.home)})}}}}}\n"
    )
    return project


def stopped(world, project, how, *turns):
    """A thread that was stopped by the signal when the last of `turns` was under way; uwf's exit
    code and what it printed.
    """
    world.plan("BEGIN it.", *turns)
    before = len(world.heard("BEGIN it."))
    thread = project.uwf("thread", "start", "./.workflow/one.yaml", "-p", "task").document["thread"]
    process = project.start_uwf("thread", "exec", thread)
    _until(lambda: len(world.heard("BEGIN it.")) >= before + len(turns), 120)
    if turns[-1] is IN_TOOL:
        _until(lambda: any("sleep" in line for line in _commands(world)), 60)
    process.send_signal(how)
    out, _ = process.communicate(timeout=60)
    _until(lambda: not processes_of(str(world.root)), 30)
    return thread, process.returncode, out


def _commands(world):
    found = []
    for pid in processes_of(str(world.root)):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found.append(file.read().decode("utf-8", "replace"))
        except OSError:
            continue
    return found


def _until(is_so, seconds):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("how", "turns"),
    [
        (signal.SIGINT, (WAITING,)),
        (signal.SIGTERM, (IN_TOOL,)),
        (signal.SIGINT, (IN_BACKGROUND, WAITING)),
        (signal.SIGKILL, (IN_TOOL,)),
    ],
    ids=["waiting", "in a tool", "with a tool in the background", "kill -9 in a tool"],
)
def test_the_tree_goes_and_the_session_goes_on(world, project, how, turns):
    thread, code, out = stopped(world, project, how, *turns)
    if how == signal.SIGKILL:
        assert code == -signal.SIGKILL
    else:
        assert code == 130
        assert json.loads(out)["status"] == "suspended"
        assert list(world.temporary.iterdir()) == []
    world.plan("BEGIN it.", DONE)
    again = project.uwf("thread", "exec", thread, seconds=120)
    assert (again.exit_code, again.document["status"]) == (0, "completed"), again
    request = world.heard("BEGIN it.")[-1]
    begun = [text_of(each) for each in request.messages if each["role"] == "user"]
    assert sum(text.count("BEGIN it.") for text in begun) >= 2, "it began anew"


def test_hermes_is_a_command_of_the_protocol_as_well(world, project):
    """As a hand or another program calls it."""
    import subprocess
    import sys

    world.plan("Say it.", "Said.")
    home = {"HERMES_HOME": str(world.home)}
    path = f"{os.path.dirname(world.program)}:{world.env['PATH']}"  # noqa: PTH120
    command = [sys.executable, "-m", "uwf_agent_hermes.command", "--thread", "T", "--role", "r"]
    done = subprocess.run(
        [*command, "--prompt", "Say it."],
        env={**project.env, **home, "PATH": path},
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    reply = json.loads(done.stdout.splitlines()[-1])
    assert reply["output"] == "Said.", done
    assert reply["agentVersion"]


def test_agent_check_says_what_is_there_and_shows_no_key(world, project):
    checked = project.uwf("agent", "check", "worker", "--trial", seconds=200)
    document = checked.document
    assert checked.exit_code == 0, document
    states = {each["name"]: each for each in document["checks"]}
    assert states["program"]["message"] == world.program
    assert states["version"]["state"] != "error"
    assert str(world.home) in states["configuration"]["message"]
    assert states["trial"]["state"] == "ok"
    assert "sk-of-the-tests" not in checked.stdout
