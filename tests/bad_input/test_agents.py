"""Agents that are missing, say nonsense, too much or nothing, never end or leave others behind:
each a failure of its own kind, kept, after which the next exec goes on.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from refusals import World
from rig import AGENT, DONE, GOOD

SCENARIOS = Path(__file__).parents[1] / "core" / "agents" / "programs" / "agent.py"
FAULTS = {
    "missing": ("unavailable", 6),
    "folder": ("unavailable", 6),
    "crash": ("crashed", 6),
    "crash_after_reply": ("invalid_output", 4),
    "killed": ("crashed", 6),
    "nothing": ("empty", 6),
    "blank": ("empty", 6),
    "garbage": ("crashed", 6),
    "binary": ("crashed", 6),
    "a_list": ("crashed", 6),
    "deep": ("crashed", 6),
    "cut": ("truncated", 6),
    "much": ("too_large", 6),
    "silent": ("stalled", 6),
    "deaf": ("stalled", 6),
    "endless": ("timeout", 6),
    "no_session": ("invalid_output", 4),
}
MOCKED = {
    "wrong-role": ([{**DONE, "role": "checker"}], "bad_request", 6),
    "beyond-its-end": ([], "bad_request", 6),
    "garbage": ([{"role": "writer", "garbage": True}], "invalid_output", 4),
    "wrong-type": ([{"role": "writer", "output": {"$status": 5}}], "invalid_output", 4),
    "unknown-status": ([{"role": "writer", "output": {"$status": "maybe"}}], "invalid_output", 4),
    "nothing": ([{"role": "writer", "output": ""}], "empty", 6),
}


@pytest.fixture(scope="module")
def all_agents(shared: World) -> World:
    """A project with an agent for each scenario, and short limits."""
    command = {"command": sys.executable, "capabilities": ["stream"], "env": ["UWF_TEST_*"]}
    found: dict[str, Any] = {
        name: {**command, "args": ["-I", "-S", str(SCENARIOS), name]} for name in FAULTS
    }
    found["missing"] = {"command": "/nowhere/agent"}
    found["folder"] = {"command": "/tmp"}
    found["endless"] = {"command": "/bin/sh", "args": ["-c", "while :; do echo; done | cat >&2"]}
    for name in ("litter", "told"):
        found[name] = {**command, "args": ["-I", "-S", str(AGENT), name]}
    limits = {"graceSeconds": 0.2, "runSeconds": 10, "idleSeconds": 3}
    shared.config(f"agents: {json.dumps(found)}\nlimits: {json.dumps(limits)}\n")
    return shared


@pytest.fixture
def agents(all_agents: World) -> World:
    """That project, with a mock that does well."""
    all_agents.play(DONE)
    return all_agents


def check_failed(rig: World, thread: str, agent: str, kind: str, exit_code: int) -> None:
    answer = rig.call("thread", "exec", thread, "--agent", agent)
    assert answer.exit_code == exit_code, answer
    assert not answer.stderr.startswith("Traceback")
    assert "\nTraceback" not in answer.stderr
    (step,) = json.loads(answer.stdout)["steps"]
    assert step["failure"]["kind"] == kind
    assert step["failure"]["message"]
    assert len(step["failure"]["message"]) < 2000
    shown = rig.show(thread)
    assert (shown["status"], shown["suspendReason"]) == ("suspended", "failure")
    assert (shown["steps"], shown["currentRole"]) == (0, "writer")


def check_goes_on(rig: World, thread: str) -> None:
    rig.play(DONE)
    assert rig.call("thread", "exec", thread, "--agent", "mock").exit_code == 0
    assert rig.show(thread)["steps"] == 1


@pytest.mark.parametrize("name", FAULTS)
def test_an_agents_fault_is_told_by_its_kind_and_exec_goes_on(agents: World, name: str) -> None:
    thread = agents.start()
    check_failed(agents, thread, name, *FAULTS[name])
    assert agents.others() == []
    check_goes_on(agents, thread)


@pytest.mark.parametrize("name", MOCKED)
def test_what_a_script_gets_wrong_is_told_and_exec_goes_on(agents: World, name: str) -> None:
    steps, kind, exit_code = MOCKED[name]
    agents.play(*steps)
    thread = agents.start()
    check_failed(agents, thread, "mock", kind, exit_code)
    check_goes_on(agents, thread)


def test_who_leaves_daemons_behind_that_hold_its_output_delivers_all_the_same(
    agents: World,
) -> None:
    thread = agents.start()
    answer = agents.call("thread", "exec", thread, "--agent", "litter")
    assert answer.exit_code == 0, answer
    assert agents.others() == []


@pytest.mark.parametrize("text", ["x\0x", "x" * (5 << 20)], ids=["NUL", "5 MB"])
def test_a_prompt_with_a_nul_or_of_5_mb_reaches_the_agent_whole(agents: World, text: str) -> None:
    (agents.folder / "task.md").write_text(text)
    started = agents.call("thread", "start", "loop", "-p", "@task.md")
    assert started.exit_code == 0, started
    thread = json.loads(started.stdout)["thread"]
    answer = agents.call("thread", "exec", thread, "--agent", "told")
    assert answer.exit_code == 0, answer
    with agents.client() as uwf:
        (turn,) = uwf.turns(thread)
    assert f"{text.count('x')} letters x" in turn["text"]
    assert f"NUL: {chr(0) in text}" in turn["text"]


def test_a_folder_that_was_removed_after_the_start_is_an_error_before_the_agent_starts(
    agents: World,
) -> None:
    folder = agents.root / "for-a-while"
    folder.mkdir()
    thread = agents.start("--cwd", str(folder))
    folder.rmdir()
    before = sorted(agents.pids.iterdir())
    answer = agents.call("thread", "exec", thread, "--agent", "told")
    assert answer.exit_code == 1, answer
    failure = json.loads(answer.stdout)["steps"][0]["failure"]
    assert failure["kind"] == "routing"
    assert str(folder) in failure["message"]
    assert sorted(agents.pids.iterdir()) == before
    folder.mkdir()
    assert agents.call("thread", "exec", thread, "--agent", "told").exit_code == 0


def test_poke_and_resume_where_the_folder_is_gone_leave_the_thread_as_it_was(
    agents: World,
) -> None:
    folder = agents.root / "for-a-step"
    folder.mkdir()
    agents.play(DONE, GOOD)
    thread = agents.start("--cwd", str(folder))
    assert agents.call("thread", "exec", thread, "--until-done").exit_code == 0
    folder.rmdir()
    agents.refuse(1, "agent-failure", "thread", "poke", thread, "-p", "more", logs=True)
    agents.refuse(1, "agent-failure", "thread", "resume", thread, "-p", "more", logs=True)
    assert agents.show(thread)["status"] == "completed"
