"""`step turns --live` prints what an agent says while it says it, each line once."""

import subprocess
import sys

import pytest
from cli_kit import on_terminal

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.turns import GrowingTurns
from uwf_core.ids import ThreadId
from uwf_core.thread.lock import thread_lock

TURN = {
    "number": 1, "role": "writer", "index": 0, "speaker": "assistant", "text": "",
    "reasoning": None, "toolCalls": [],
}  # fmt: skip


def shown(*states):
    growing = GrowingTurns(Screen(80, False))
    given = [growing.add({**TURN, **state}) for state in states] + [growing.end()]
    assert all(line.endswith("\n") for lines in given for line in lines)
    return ["".join(lines).splitlines() for lines in given]


def test_a_line_is_printed_once_when_it_is_finished():
    assert shown({"text": "on"}, {"text": "one\ntw"}, {"text": "one\ntwo\nthree"}) == [
        ["#1 writer · assistant 0"], ["one"], ["two"], ["three"],
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["---\nI wrote it.", "---\n", ""])
def test_the_fields_of_a_reply_step_back_behind_its_text(end):
    """What uwf reads of a reply is dim, also while the reply grows."""
    growing = GrowingTurns(Screen(80, True))
    head = ["---", '"$status": done', "summary: it"]
    text = "\n".join([*head, end])
    lines = growing.add({**TURN, "text": text}) + growing.end()
    shown = [line.rstrip("\n") for line in lines[1:]]
    expected = [f"\x1b[2m{each}\x1b[0m" for each in head]
    expected += ["\x1b[2m---\x1b[0m"] if end else []
    assert shown == [*expected, *end.splitlines()[1:]]


def test_a_new_turn_ends_the_one_before():
    assert shown({"text": "one"}, {"text": "a\nb", "index": 1}) == [
        ["#1 writer · assistant 0"], ["one", "", "#1 writer · assistant 1", "a"], ["b"],
    ]  # fmt: skip


def test_a_tool_call_is_printed_at_once_and_again_if_it_fails():
    call = {"name": "run", "arguments": "x", "isError": False}
    assert shown(
        {"reasoning": "why", "text": "say"},
        {"reasoning": "why", "text": "say", "toolCalls": [call]},
        {"reasoning": "why", "text": "say", "toolCalls": [{**call, "isError": True}]},
    ) == [["#1 writer · assistant 0", "why"], ["say", "→ run x"], ["✗ run x"], []]


GROWS = """\
import json, os, time

def say(text):
    with open(os.environ["UWF_EVENTS"], "a") as file:
        print(json.dumps({"turn": {"index": 0, "role": "assistant", "text": text}}), file=file)
    time.sleep(0.7)

say("The first")
say("The first line\\nThe sec")
say("The first line\\nThe second line\\nThe third line")
print(json.dumps({"output": "---\\n$status: done\\nsummary: it\\n---\\n"}))
"""


def test_the_turns_of_a_running_agent_are_followed_line_by_line(project):
    agent = project.folder / "agent.py"
    agent.write_text(GROWS)
    slow = f"{{command: {sys.executable}, args: [{agent}], capabilities: [stream]}}"
    project.config(f"agents: {{slow: {slow}}}\n")
    thread = project.uwf("thread", "start", "pair", "-p", "x", "--agent", "slow").document["thread"]
    assert project.uwf("thread", "exec", thread, "--background").exit_code == 0
    live = on_terminal(project, ["step", "turns", thread, "--live"])
    lines = [line for line in live.lines if line]
    assert lines == [
        "#1 writer · assistant 0", "The first line", "The second line", "The third line",
    ]  # fmt: skip


FAILS = """\
import json, os, time

for text in ("I look at it.", "I have no key."):
    with open(os.environ["UWF_EVENTS"], "a") as file:
        turn = {"index": len(text), "role": "assistant", "text": text}
        print(json.dumps({"turn": turn}), file=file)
    time.sleep(0.5)
print(json.dumps({"error": {"kind": "auth", "message": "no key"}}))
"""


def test_the_turns_of_a_failed_attempt_are_shown_and_followed(project):
    agent = project.folder / "agent.py"
    agent.write_text(FAILS)
    keyless = f"{{command: {sys.executable}, args: [{agent}], capabilities: [stream]}}"
    project.config(f"agents: {{keyless: {keyless}}}\n")
    started = project.uwf("thread", "start", "pair", "-p", "x", "--agent", "keyless")
    thread = started.document["thread"]
    assert project.uwf("thread", "exec", thread, "--background").exit_code == 0
    live = on_terminal(project, ["step", "turns", thread, "--live"])
    assert [line for line in live.lines if line.startswith("I ")] == [
        "I look at it.", "I have no key.",
    ]  # fmt: skip
    assert project.uwf("thread", "wait", thread).document["suspendReason"] == "failure"
    turns = project.uwf("step", "turns", thread).document["turns"]
    assert [turn["text"] for turn in turns] == ["I look at it.", "I have no key."]
    assert project.uwf("thread", "exec", thread, "--agent", "mock").exit_code == 0
    again = project.uwf("step", "turns", thread).document["turns"]
    assert again[:2] == turns
    assert {turn["number"] for turn in again} == {1}


def test_a_run_that_has_not_opened_its_attempt_is_waited_for(project):
    """The moment between the lock and the attempt, which a background run has as well."""
    with project.client() as uwf:
        thread = uwf.start("pair", "x")["thread"]
        store = uwf._engine.store
        with thread_lock(store, ThreadId(thread), 1):
            watcher = project.start_uwf("step", "turns", thread, "--live")
            with pytest.raises(subprocess.TimeoutExpired):
                watcher.communicate(timeout=3)
        watcher.communicate(timeout=60)
        assert watcher.returncode == 0
