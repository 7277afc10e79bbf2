"""How a thread goes on: after an interruption, in a fork, by poke, where data leads nowhere."""

import threading
import time
from collections.abc import Iterator

import pytest
from tests.core.engine.conftest import APPROVED, DONE, LOOP, REJECTED
from tests.core.engine.test_resume_and_poke import instruction
from tests.step_parts import session_of

from uwf_core.api import TurnTaken
from uwf_core.client import Cancel, Client
from uwf_core.testing.project import Project

HANGS = {"role": "developer", "hang": True, "turns": ["Reading"]}


@pytest.fixture
def interrupted(project: Project, uwf: Client, thread: str) -> Iterator[str]:
    """A thread that was stopped in the middle of its first step."""
    project.script([HANGS])
    cancel = Cancel()

    def stop(event: object) -> None:
        if isinstance(event, TurnTaken):
            cancel.set("stopped")

    with project.client(on_event=stop) as stopping:
        outcome = stopping.exec(thread, cancel=cancel)
    assert (outcome.exit_code, outcome.document["status"]) == (130, "suspended")
    assert outcome.document["steps"][0]["suspendReason"] == "interrupted"
    yield thread


def test_who_was_interrupted_is_told_so_and_goes_on_in_its_session(
    project: Project, uwf: Client, interrupted: str
) -> None:
    assert uwf.show(interrupted)["currentRole"] == "developer"
    project.script([DONE])
    assert uwf.exec(interrupted).exit_code == 0
    step = uwf.step(uwf.steps(interrupted)[-1]["step"])
    failed = uwf.step(step["previousAttempts"][0])
    assert (session_of(step)["continuation"], session_of(step)["id"]) == (
        "continued",
        session_of(failed)["id"],
    )
    assert "interrupted" in uwf.prompt(step["step"])
    assert instruction(uwf, interrupted) == "Write it."
    assert [turn["text"] for turn in failed["turns"]] == ["Reading"], "what it had said is kept"


def test_what_an_agent_says_in_quick_succession_is_stored_while_it_still_works(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([{**HANGS, "turns": ["Reading", "Thinking", "Writing"]}])
    cancel, seen = Cancel(), list[str]()

    def look() -> None:
        until = time.monotonic() + 60
        with project.client() as other:
            while len(seen) < 3 and time.monotonic() < until:
                seen[:] = [turn["text"] for turn in other.turns(thread)]
        cancel.set("seen")

    looking = threading.Thread(target=look)
    looking.start()
    uwf.exec(thread, cancel=cancel)
    looking.join()
    assert seen == ["Reading", "Thinking", "Writing"]


def test_resume_after_an_interruption_says_the_edge_prompt_and_the_text(
    project: Project, uwf: Client, interrupted: str
) -> None:
    project.script([DONE])
    uwf.resume(interrupted, "but quickly")
    assert instruction(uwf, interrupted) == "Write it.\n\nbut quickly"


def test_a_fork_goes_on_at_its_own_place_and_the_parent_at_its_own(
    project: Project, uwf: Client, thread: str
) -> None:
    """The mock's step is found by the steps that precede it in its chain."""
    numbered = {"role": "developer", "output": {"$status": "done", "count": 3}}
    project.script([DONE, REJECTED, numbered, APPROVED])
    uwf.exec(thread, count=3)
    fork = uwf.fork(uwf.steps(thread)[1]["step"])["thread"]
    outcome = uwf.exec(fork, until_done=True)
    assert [step["role"] for step in outcome.document["steps"]] == [
        *("reviewer", "developer", "reviewer"),
    ]
    assert uwf.step(uwf.steps(fork)[3]["step"])["output"]["count"] == 3
    assert uwf.exec(thread).document["status"] == "completed"
    last = uwf.step(uwf.steps(thread)[-1]["step"])
    first = uwf.step(uwf.steps(thread)[2]["step"])
    assert (session_of(last)["continuation"], session_of(last)["id"]) == (
        "continued",
        session_of(first)["id"],
    )


def test_a_poked_step_works_in_the_folder_of_the_one_that_it_replaces(
    project: Project, uwf: Client, thread: str
) -> None:
    (project.folder / "tree").mkdir()
    located = {"role": "developer", "output": {"$status": "done", "worktree": "tree"}}
    project.script([located, {"role": "reviewer", "outputs": [REJECTED["output"]] * 2}, DONE])
    uwf.exec(thread, count=2)
    uwf.poke(thread, "look again")
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (step["attempt"]["cwd"], step["attempt"]["edgePrompt"]) == (
        str(project.folder / "tree"),
        "Review it.",
    )
    assert uwf.exec(thread).exit_code == 0
    assert uwf.step(uwf.steps(thread)[-1]["step"])["attempt"]["cwd"] == str(project.folder)


def test_a_step_whose_data_leads_nowhere_is_kept_and_the_thread_waits(
    project: Project, uwf: Client
) -> None:
    bare = LOOP.replace("name: loop", "name: bare").replace(
        '"Fix: {{{comments}}}"', '"{{comments}}"'
    )
    project.workflow("bare", bare)
    blank = {"role": "reviewer", "output": {"$status": "rejected", "comments": " "}}
    project.script([DONE, blank])
    thread = uwf.start("bare", "x")["thread"]
    outcome = uwf.exec(thread, until_done=True)
    last = outcome.document["steps"][-1]
    assert (outcome.exit_code, last["suspendReason"]) == (1, "failure")
    assert last["failure"] is not None and last["failure"]["kind"] == "routing"
    assert last["step"] == uwf.show(thread)["head"], "the step is kept"
    assert len(uwf.steps(thread)) == 3


def test_a_role_has_its_own_time_limit_and_its_tools_are_said_where_nobody_enforces_them(
    project: Project,
) -> None:
    text = LOOP.replace("name: loop", "name: narrow").replace(
        "    goal: Write it.\n", "    goal: Write it.\n    timeout: 0.2\n    tools: [read_file]\n"
    )
    project.workflow("narrow", text)
    project.script([HANGS])
    said: list[str] = []
    with project.client(on_notice=said.append) as uwf:
        thread = uwf.start("narrow", "x")["thread"]
        failure = uwf.exec(thread).document["steps"][0]["failure"]
    assert failure is not None and failure["kind"] == "timeout"
    assert [line for line in said if "read_file" in line and "mock" in line]


def test_a_thread_keeps_the_word_for_its_agent_and_a_step_what_it_meant(
    project: Project, uwf: Client
) -> None:
    project.config("agents:\n  player: {use: mock}\n")
    project.script([DONE])
    with project.client() as fresh:
        thread = fresh.start("loop", "x", agent="player")["thread"]
        fresh.exec(thread)
        start, step = fresh.steps(thread)
    assert (start["agent"], step["agent"]) == ("player", "mock")
