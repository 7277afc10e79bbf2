"""resume, questions, poke: a person says how it goes on."""

import pytest
from tests.core.engine.conftest import APPROVED, DONE, LOOP, UNSURE
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.errors import PayloadError, WrongStateError
from uwf_core.testing.project import Project

ASKED_AND_ANSWERED = "You asked:\n\nPlease decide: red or blue?\n\nA person answered:\n\nblue"


def instruction(uwf: Client, thread: str) -> str:
    """What the agent of the newest step was told last."""
    prompt = uwf.prompt(uwf.steps(thread)[-1]["step"])
    text, _, form = prompt.split("# Your instruction\n\n")[1].rpartition("\n\n")
    assert form.startswith("Begin your final reply with `---`")
    return text


def test_resume_after_a_role_asked_says_the_message_then_the_text(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, UNSURE, APPROVED])
    uwf.exec(thread, until_done=True)
    outcome = uwf.resume(thread, "blue")
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed")
    assert instruction(uwf, thread) == ASKED_AND_ANSWERED
    steps = uwf.steps(thread)
    assert [row["role"] for row in steps] == ["$START", "developer", "reviewer", "reviewer"]
    assert (
        session_of(uwf.step(steps[-1]["step"]))["id"]
        == session_of(uwf.step(steps[-2]["step"]))["id"]
    )


def test_resume_after_a_failure_says_the_edge_prompt_never_the_error(
    project: Project, uwf: Client, thread: str
) -> None:
    fail = {"fail": {"kind": "crashed", "message": "SECRET CAUSE"}}
    project.script([{"role": "developer", "outputs": [fail, {"$status": "done"}]}])
    uwf.exec(thread)
    uwf.resume(thread, "try the other way")
    assert instruction(uwf, thread) == "Write it.\n\ntry the other way"
    assert "SECRET CAUSE" not in uwf.prompt(uwf.steps(thread)[-1]["step"])


def test_resume_of_a_completed_thread_goes_on_in_the_same_thread(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, APPROVED, DONE, APPROVED])
    uwf.exec(thread, until_done=True)
    outcome = uwf.resume(thread, "one more thing")
    assert outcome.document["status"] == "idle"
    assert instruction(uwf, thread) == "There is more to do.\n\none more thing"
    assert len(uwf.steps(thread)) == 4, "older steps stay"


def test_resume_of_an_idle_or_cancelled_thread_is_a_wrong_state(uwf: Client, thread: str) -> None:
    with pytest.raises(WrongStateError, match="idle"):
        uwf.resume(thread, "x")
    uwf.cancel(thread)
    with pytest.raises(WrongStateError, match="cancelled"):
        uwf.resume(thread, "x")


def test_any_role_may_yield_without_declaring_it(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([{"role": "developer", "suspend": {"reason": "Which branch?"}}, DONE])
    outcome = uwf.exec(thread)
    assert outcome.exit_code == 3
    assert outcome.document["steps"][0]["suspendMessage"] == "Which branch?"
    assert outcome.document["steps"][0]["step"] is not None
    uwf.resume(thread, "main")
    assert instruction(uwf, thread) == "You asked:\n\nWhich branch?\n\nA person answered:\n\nmain"


def test_a_text_alone_is_no_answer_to_a_question(uwf: Client, thread: str) -> None:
    assert uwf.exec(thread, agent="human").exit_code == 3
    before = uwf.show(thread)
    assert before["form"] is not None and before["steps"] == 0
    with pytest.raises(WrongStateError, match="answer"):
        uwf.resume(thread, "done, I think", agent="human")
    assert uwf.show(thread) == before


def test_an_invalid_answer_is_refused_and_nothing_moves(uwf: Client, thread: str) -> None:
    uwf.exec(thread, agent="human")
    before = uwf.show(thread)
    with pytest.raises(PayloadError, match=r"\$status"):
        uwf.resume(thread, answer="$status=dnoe", agent="human")
    assert uwf.show(thread) == before


def test_an_answer_goes_through_the_roles_schema_like_any_output(uwf: Client, thread: str) -> None:
    uwf.exec(thread, agent="human")
    outcome = uwf.resume(thread, answer="$status=done\ncount=3", agent="human")
    assert (outcome.exit_code, outcome.document["status"]) == (0, "idle")
    assert uwf.step(uwf.steps(thread)[-1]["step"])["output"] == {"$status": "done", "count": 3}


def test_status_in_an_answer_means_the_status(uwf: Client, thread: str) -> None:
    uwf.exec(thread, agent="human")
    assert uwf.resume(thread, answer="status=done\ncount=3").exit_code == 0
    assert uwf.step(uwf.steps(thread)[-1]["step"])["output"] == {"$status": "done", "count": 3}


def test_an_answer_reaches_the_agent_that_asked_whatever_the_default_says(
    project: Project, uwf: Client, thread: str
) -> None:
    """A person's word must not become that of an agent which was never asked."""
    project.script([DONE, APPROVED])
    uwf.exec(thread)
    assert uwf.exec(thread, agent="human").exit_code == 3
    assert uwf.resume(thread, answer="$status=rejected\ncomments=no").exit_code == 0
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (step["agent"], step["output"]) == ("human", {"$status": "rejected", "comments": "no"})


def test_an_answer_reaches_the_agent_that_asked_whatever_the_flag_says(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE])
    uwf.exec(thread, agent="human")
    uwf.resume(thread, answer="$status=done\ncount=7", agent="mock")
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (step["agent"], step["output"]) == ("human", {"$status": "done", "count": 7})


def test_an_answer_reaches_the_alias_that_asked(project: Project, thread: str) -> None:
    """With its options, and in the folder where its sessions are."""
    project.config("agents:\n  boss: {use: human}\n")
    with project.client() as uwf:
        uwf.exec(thread, agent="boss")
        assert uwf.resume(thread, answer="$status=done").exit_code == 0
    assert [folder.name for folder in (project.home / "agents").iterdir()] == ["boss"]


def test_an_answer_with_a_field_that_nobody_asked_for_changes_nothing(
    uwf: Client, thread: str
) -> None:
    uwf.exec(thread, agent="human")
    before = uwf.show(thread)
    with pytest.raises(PayloadError, match="cuont"):
        uwf.resume(thread, answer="$status=done\ncuont=3")
    assert uwf.show(thread) == before


def test_an_answer_needs_no_default_agent(project: Project, thread: str) -> None:
    del project.env["UWF_DEFAULT_AGENT"]
    with project.client() as uwf:
        uwf.exec(thread, agent="human")
        assert uwf.resume(thread, answer="$status=done").exit_code == 0


def test_an_answer_to_the_form_of_a_role_that_yielded_reaches_its_agent(
    project: Project, uwf: Client, thread: str
) -> None:
    form = {"properties": {"colour": {"type": "string"}, "shade": {}}, "required": ["colour"]}
    suspend = {"reason": "Which colour?", "form": form}
    project.script([{"role": "developer", "suspend": suspend}, DONE])
    uwf.exec(thread)
    with pytest.raises(PayloadError, match=r"color: is not a field of the form; .*colour"):
        uwf.resume(thread, answer="colour=blue\ncolor=red")
    assert uwf.resume(thread, answer="colour=blue", agent="human").exit_code == 0
    assert uwf.step(uwf.steps(thread)[-1]["step"])["agent"] == "mock"


def test_an_answer_where_nothing_was_asked_is_refused(
    project: Project, uwf: Client, thread: str
) -> None:
    project.script([DONE, UNSURE])
    uwf.exec(thread, until_done=True)
    with pytest.raises(WrongStateError, match="no pending question"):
        uwf.resume(thread, answer="a=b")


def test_poke_runs_the_head_again_and_replaces_it_without_forgetting(
    project: Project, uwf: Client, thread: str
) -> None:
    outputs = [{"$status": "done"}, {"$status": "done", "count": 2}]
    project.script([{"role": "developer", "outputs": outputs}, APPROVED])
    uwf.exec(thread)
    old = uwf.steps(thread)[-1]["step"]
    outcome = uwf.poke(thread, "count them")
    assert (outcome.exit_code, outcome.document["status"]) == (0, "idle")
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (step["attempt"]["replaces"], step["prev"], step["number"]) == (old, None, 1)
    assert step["output"]["count"] == 2
    assert session_of(step)["id"] == session_of(uwf.step(old))["id"]
    assert instruction(uwf, thread) == (
        "Write it.\n\nA person asks you to redo your last reply:\n\ncount them"
    )
    assert uwf.exec(thread).document["status"] == "completed"


def test_poke_of_a_completed_thread_can_open_it_again(
    project: Project, uwf: Client, thread: str
) -> None:
    again = {
        "role": "reviewer",
        "outputs": [APPROVED["output"], {"$status": "unsure", "comments": "?"}],
    }
    project.script([DONE, again])
    uwf.exec(thread, until_done=True)
    assert uwf.poke(thread, "really?").document["status"] == "suspended"


def test_poke_before_any_step_or_while_a_question_is_pending_is_a_wrong_state(
    uwf: Client, thread: str
) -> None:
    with pytest.raises(WrongStateError, match="no step"):
        uwf.poke(thread, "x")
    uwf.exec(thread, agent="human")
    with pytest.raises(WrongStateError, match="answer"):
        uwf.poke(thread, "x")


LIMITED = LOOP.replace("name: loop", "name: limited") + "limits: {maxSteps: 2}\n"


def test_a_limit_suspends_and_resume_grants_the_same_once_more(
    project: Project, uwf: Client
) -> None:
    project.workflow("limited", LIMITED)
    rejected = {"role": "reviewer", "output": {"$status": "rejected", "comments": "no"}}
    project.script([DONE, rejected, DONE, rejected, DONE])
    thread = uwf.start("limited", "x")["thread"]
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (5, "suspended")
    assert uwf.show(thread)["suspendReason"] == "limit"
    assert uwf.exec(thread).exit_code == 5, "no agent is started"
    assert len(uwf.steps(thread)) == 3
    assert uwf.resume(thread, "go on").document["status"] == "idle"
    assert instruction(uwf, thread) == "Fix: no\n\ngo on"
    assert uwf.exec(thread, until_done=True).exit_code == 5
    assert len(uwf.steps(thread)) == 5


def test_a_limit_that_cannot_be_known_is_said_at_once(project: Project) -> None:
    project.workflow("limited", LIMITED.replace("maxSteps: 2", "maxTokens: 1000"))
    project.script([{**DONE, "usage": {"turns": 1}}, APPROVED])
    said: list[str] = []
    with project.client(on_notice=said.append) as uwf:
        thread = uwf.start("limited", "x")["thread"]
        assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    assert [line for line in said if "maxTokens" in line and "not enforceable" in line]


def test_a_role_that_asks_with_a_form_can_be_answered_or_told(
    project: Project, uwf: Client, thread: str
) -> None:
    form = {"type": "object", "properties": {"env": {"enum": ["prod", "dev"]}}, "required": ["env"]}
    asks = {"role": "developer", "suspend": {"reason": "Which one?", "form": form}}
    project.script([asks, DONE])
    uwf.exec(thread)
    shown = uwf.show(thread)
    assert shown["form"] == form
    assert [command.partition(thread)[2] for command in shown["next"]] == [
        " --answer env=<prod|dev>", " -p <text>",
    ]  # fmt: skip
    with pytest.raises(PayloadError, match="env"):
        uwf.resume(thread, answer="env=test")
    assert uwf.show(thread) == shown
    uwf.resume(thread, "quickly", answer="env=prod")
    assert instruction(uwf, thread) == (
        'You asked:\n\nWhich one?\n\nA person answered:\n\n{"env": "prod"}\n\nquickly'
    )


def test_a_program_pokes_and_resumes_to_the_end(project: Project, uwf: Client, thread: str) -> None:
    project.script([DONE, APPROVED, DONE, APPROVED])
    uwf.exec(thread)
    assert uwf.poke(thread, "again", until_done=True).document["status"] == "completed"
    assert uwf.resume(thread, "once more", until_done=True).document["status"] == "completed"
