"""A role is a session: re-entry continues it, a fork forks it, another agent never gets it."""

import sys

import pytest
from tests.core.engine.conftest import APPROVED, DONE, REJECTED
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.extract.correction import correction_text
from uwf_core.testing.project import Project


def test_a_role_that_is_entered_again_continues_its_own_session(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, REJECTED, DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    steps = [uwf.step(row["step"]) for row in uwf.steps(thread)[1:]]
    developer, reviewer = session_of(steps[0])["id"], session_of(steps[1])["id"]
    assert developer != reviewer, "different roles never share a session"
    assert [session_of(step)["id"] for step in steps] == [developer, reviewer, developer, reviewer]
    assert [session_of(step)["continuation"] for step in steps] == [
        "new",
        "new",
        "continued",
        "continued",
    ]
    assert all(step["proof"] for step in steps[2:])


def test_in_its_own_session_a_role_is_told_only_what_is_new(
    project: Project, uwf: Client, thread: str
) -> None:
    first = {**DONE, "body": "FIRST BODY"}
    project.script([first, REJECTED, DONE])
    uwf.exec(thread, count=3)
    prompt = uwf.prompt(uwf.steps(thread)[-1]["step"])
    assert "a < b & c" in prompt
    assert "FIRST BODY" not in prompt
    assert "The task." not in prompt and "# Your role" not in prompt, "its session has both"
    assert prompt.startswith("You continue this session as the developer:")


def test_a_fork_shares_the_chain_and_forks_the_session_on_first_re_entry(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, REJECTED, DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    rejected = uwf.steps(thread)[2]["step"]
    fork = uwf.fork(rejected)["thread"]
    assert uwf.steps(fork) == uwf.steps(thread)[:3], "nothing is copied"
    uwf.exec(fork, until_done=True)
    steps = [uwf.step(row["step"]) for row in uwf.steps(fork)[3:]]
    parent = [uwf.step(row["step"]) for row in uwf.steps(thread)[1:]]
    assert [session_of(step)["continuation"] for step in steps] == ["forked", "forked"]
    assert {session_of(step)["id"] for step in steps}.isdisjoint(
        session_of(step)["id"] for step in parent
    )


def sessions_of(project: Project) -> dict[str, str]:
    return {file.stem: file.read_text() for file in project.home.glob("agents/*/sessions/*.jsonl")}


def test_a_fork_at_a_step_has_not_seen_later_steps(
    project: Project, uwf: Client, thread: str
) -> None:
    bodies = [{**DONE, "body": f"BODY {number}"} for number in range(3)]
    project.script([bodies[0], REJECTED, bodies[1], REJECTED, bodies[2], APPROVED])
    uwf.exec(thread, until_done=True)
    fork = uwf.fork(uwf.steps(thread)[2]["step"])["thread"]
    uwf.exec(fork)
    step = uwf.step(uwf.steps(fork)[-1]["step"])
    known = sessions_of(project)[session_of(step)["id"]]
    assert session_of(step)["continuation"] == "forked"
    assert [f"BODY {number}" in known for number in range(3)] == [True, True, False]
    assert known.count("BODY 1") == 1, "only what the fork itself said"


def test_a_question_about_a_step_is_answered_as_of_that_step(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([{**DONE, "body": "EARLY"}, REJECTED, {**DONE, "body": "LATE"}, APPROVED])
    uwf.exec(thread, until_done=True)
    answers = [uwf.ask(uwf.steps(thread)[at]["step"], "What did you say?") for at in (1, 3)]
    assert [each["continuation"] for each in answers] == ["original", "original"]
    assert ["EARLY" in each["answer"] for each in answers] == [True, False]
    assert ["LATE" in each["answer"] for each in answers] == [False, True]


def test_a_fork_of_a_start_is_a_fresh_thread(project: Project, uwf: Client, thread: str) -> None:
    project.script([DONE, APPROVED])
    fork = uwf.fork(uwf.steps(thread)[0]["step"])["thread"]
    assert uwf.exec(fork, until_done=True).document["status"] == "completed"
    assert uwf.show(thread)["status"] == "idle"


def test_another_agent_gets_a_fresh_session_with_the_whole_history(
    project: Project, uwf: Client, thread: str
) -> None:
    project.config("agents:\n  other: {use: mock}\n")
    human = {"role": "developer", "output": {"$status": "done"}}
    project.script([{**DONE, "body": "FIRST BODY"}, REJECTED, human])
    uwf.exec(thread, count=2)
    outcome = uwf.exec(thread, agent="human")
    assert outcome.exit_code == 3
    with project.client() as fresh:
        answered = fresh.resume(thread, answer='{"$status": "done"}', agent="human")
    assert answered.exit_code == 0
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (step["agent"], session_of(step)["id"], session_of(step)["continuation"]) == (
        "human",
        None,
        "new",
    )
    assert "FIRST BODY" in uwf.prompt(step["step"])


def test_an_agent_that_could_continue_gets_no_session_of_another(
    project: Project, uwf: Client, thread: str
) -> None:
    """Both can continue sessions, and one's session means nothing to the other."""
    lines = ("import json, os", 'session = json.load(open(os.environ["UWF_REQUEST"]))["session"]')
    reply = {"output": {"$status": "done"}, "sessionId": "of-the-other"}
    program = project.folder / "agent.py"
    program.write_text("\n".join([*lines, f"print(json.dumps({{**{reply!r}, 'model': session}}))"]))
    project.config(
        f"agents: {{other: {{command: {sys.executable}, args: [{program}], "
        "capabilities: [continue]}}\n"
    )
    project.script([DONE, REJECTED])
    uwf.exec(thread, count=2)
    with project.client() as fresh:
        assert fresh.exec(thread, agent="other").exit_code == 0
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (step["model"], session_of(step)["id"], session_of(step)["continuation"]) == (
        None,
        "of-the-other",
        "new",
    )


def test_an_agent_that_returns_to_its_role_continues_its_own_session(
    project: Project, uwf: Client, thread: str
) -> None:
    """And is told what another one said in that role meanwhile."""
    human = {"role": "developer", "output": {"$status": "done"}}
    project.script([DONE, REJECTED, human, REJECTED, DONE])
    uwf.exec(thread, count=2)
    uwf.exec(thread, agent="human")
    uwf.resume(thread, answer='{"$status": "done", "count": 17}')
    uwf.exec(thread, count=2)
    steps = [uwf.step(row["step"]) for row in uwf.steps(thread)[1:]]
    assert [step["agent"] for step in steps if step["role"] == "developer"] == [
        *("mock", "human", "mock"),
    ]
    assert (session_of(steps[4])["id"], session_of(steps[4])["continuation"]) == (
        session_of(steps[0])["id"],
        "continued",
    )
    prompt = uwf.prompt(steps[4]["step"])
    assert "count: 17" in prompt
    assert "## Step 1:" not in prompt, "it knows that already"
    assert uwf.verify()["problems"] == []


def test_an_agent_whose_step_another_replaced_is_told_the_new_one(
    project: Project, uwf: Client, thread: str
) -> None:
    fail = {"fail": {"kind": "crashed", "message": "x"}}
    first = {"role": "developer", "outputs": [{"$status": "done"}, fail]}
    project.script([first, REJECTED, DONE])
    uwf.exec(thread)
    assert uwf.poke(thread, "count").document["status"] == "suspended"
    uwf.exec(thread, agent="human")
    uwf.resume(thread, answer='{"$status": "done", "count": 17}')
    uwf.exec(thread, count=2)
    again = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (again["number"], session_of(again)["continuation"]) == (3, "continued")
    assert "count: 17" in uwf.prompt(again["step"])
    assert uwf.verify()["problems"] == []


def test_each_agents_failed_session_stays_its_own(
    project: Project, uwf: Client, thread: str
) -> None:
    """An attempt that failed keeps its session while another agent takes the step."""
    fail = {"fail": {"kind": "crashed", "message": "x"}}
    first = {"role": "developer", "outputs": [fail, {"$status": "done"}]}
    project.script([first, REJECTED, DONE])
    failed = uwf.exec(thread).document["steps"][0]["step"]
    session = session_of(uwf.step(failed))["id"]
    assert session is not None
    uwf.exec(thread, agent="human")
    uwf.resume(thread, answer="$status=done")
    uwf.exec(thread, count=2)
    again = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (session_of(again)["id"], session_of(again)["continuation"]) == (session, "continued")
    assert uwf.verify()["problems"] == []


def test_a_lost_session_is_replaced_by_a_fresh_one_with_the_whole_prompt_and_marked(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([{**DONE, "body": "FIRST BODY"}, REJECTED, DONE])
    uwf.exec(thread, count=2)
    for session in project.home.glob("agents/*/sessions/*"):
        session.unlink()
    assert uwf.exec(thread).exit_code == 0
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert session_of(step)["continuation"] == "restarted"
    assert "FIRST BODY" in uwf.prompt(step["step"])


def test_a_session_that_is_lost_at_the_second_correction_keeps_the_first(
    project: Project, uwf: Client, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losing(problems, count, of, **more):
        if count == 2:
            for session in project.home.glob("agents/*/sessions/*"):
                session.unlink()
        return correction_text(problems, count, of, **more)

    monkeypatch.setattr("uwf_core.extract.correction.correction_text", losing)
    good = DONE["output"]
    bad = {**good, "$status": "unknown"}
    project.script([{"role": DONE["role"], "outputs": [bad, bad, good]}])
    step = uwf.step(uwf.exec(thread).document["steps"][0]["step"])
    first, second = step["corrections"]
    assert "The task." not in first["prompt"], "its session has it"
    assert "The task." in second["prompt"]
    assert session_of(step)["continuation"] == "restarted"


def test_ask_answers_from_a_fork_and_moves_nothing(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([{**DONE, "answer": "Because."}, APPROVED])
    uwf.exec(thread, until_done=True)
    before, step = uwf.show(thread), uwf.steps(thread)[1]["step"]
    answer = uwf.ask(step, "Why?")
    assert answer["continuation"] == "original"
    assert answer["session"] != session_of(uwf.step(step))["id"]
    again = uwf.ask(step, "And why that?")
    assert again["session"] == answer["session"], "the fork is kept per step"
    assert uwf.show(thread) == before


def test_ask_without_a_fork_is_labelled_reconstructed(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    answer = uwf.ask(uwf.steps(thread)[1]["step"], "Why?", fork=False)
    assert answer["continuation"] == "reconstructed"
