"""Questions with a deadline: what follows when nobody answers, and answers that come too late."""

import time
from typing import Any

import pytest

from uwf_core.client import Client
from uwf_core.errors import CorruptNodeError, DefinitionError, WrongStateError
from uwf_core.testing.project import Project
from uwf_core.thread.decisions import Event, Suspension
from uwf_core.thread.expiry import after_expiry, checked_expiry

WITHIN = 0.3
HUMAN = """
version: 1
name: release
roles:
  developer:
    goal: Write it.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  approver:
    human: true
    goal: Approve it.
    within: 0.3
    expired: {role: rescuer, prompt: Nobody approved it. Undo it.}
    frontmatter:
      type: object
      properties: {$status: {const: approved}, words: {type: string}}
      required: [$status, words]
  rescuer:
    goal: Undo it.
    frontmatter: {type: object, properties: {$status: {const: undone}}, required: [$status]}
graph:
  $START:
    new: {role: developer, prompt: Write it.}
    resume: {role: developer, prompt: Write more.}
  developer:
    done: {role: approver, prompt: May it go out?}
  approver:
    approved: {role: $END, prompt: "{{{words}}}"}
  rescuer:
    undone: {role: $END, prompt: Done.}
"""
EDGE = """
version: 1
name: asking
roles:
  developer:
    goal: Write it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}}, required: [$status]}
        - properties: {$status: {const: unclear}, what: {type: string}}
          required: [$status, what]
  guesser:
    goal: Guess.
    frontmatter: {type: object, properties: {$status: {const: guessed}}, required: [$status]}
graph:
  $START:
    new: {role: developer, prompt: Write it.}
    resume: {role: developer, prompt: Write more.}
  developer:
    done: {role: $END, prompt: Done.}
    unclear:
      role: $SUSPEND
      prompt: "Which {{{what}}}?"
      within: 0.3
      expired: {role: guesser, prompt: "Guess the {{{what}}}."}
  guesser:
    guessed: {role: $END, prompt: Done.}
"""
SCRIPT: list[dict[str, Any]] = [
    {"role": "developer", "output": {"$status": "done"}},
    {"role": "rescuer", "output": {"$status": "undone"}},
]
UNCLEAR: list[dict[str, Any]] = [
    {"role": "developer", "output": {"$status": "unclear", "what": "colour"}},
    {"role": "developer", "output": {"$status": "done"}},
    {"role": "guesser", "output": {"$status": "guessed"}},
]
ANSWER = '{"$status": "approved", "words": "Ship the blue one."}'


def asked(project: Project, uwf: Client, text: str = HUMAN, name: str = "release") -> str:
    project.workflow(name, text)
    project.script(SCRIPT if name == "release" else UNCLEAR, by_role=True)
    thread = uwf.start(name, "The task.")["thread"]
    assert uwf.exec(thread, until_done=True).document["suspendReason"] == "role"
    return thread


def events(uwf: Client, thread: str) -> list[str]:
    store = uwf._engine.store
    return [each.name.rpartition(".")[2] for each in store.variables(f"@uwf/event/{thread}/")]


def roles(uwf: Client, thread: str) -> list[str]:
    return [str(each["role"]) for each in uwf.steps(thread)[1:]]


def test_a_question_that_nobody_answers_leads_to_the_role_of_its_edge(
    project: Project, uwf: Client
):
    thread = asked(project, uwf)
    assert uwf.exec(thread).document["status"] == "suspended"  # there is time left
    time.sleep(WITHIN)
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed")
    assert "expired" in events(uwf, thread)
    assert roles(uwf, thread) == ["developer", "rescuer"]
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert step["attempt"]["edgePrompt"] == "Nobody approved it. Undo it."
    assert step["attempt"]["answer"] is None


def test_replay_verify_and_bundles_derive_it(project: Project, uwf: Client):
    for text, name in ((HUMAN, "release"), (EDGE, "asking")):
        thread = asked(project, uwf, text, name)
        time.sleep(WITHIN)
        uwf.exec(thread, until_done=True)
        assert {each["verdict"] for each in uwf.replay(thread)["steps"]} == {"same"}
        bundle = project.folder / f"{name}.uwfb"
        uwf.export_thread(thread, bundle)
        Client.verify_bundle(bundle)
    assert project.uwf("cas", "verify").exit_code == 0


@pytest.mark.parametrize(("text", "role"), [(HUMAN, "approver"), (EDGE, "developer")])
def test_a_deadline_can_end_the_workflow_with_a_status(
    project: Project, uwf: Client, text: str, role: str
):
    for other in ("rescuer", "guesser"):
        text = text.replace(f"expired: {{role: {other},", "expired: {role: $END, as: gave-up,")
    text = text.replace("approved: {role: $END", "approved: {role: rescuer")
    text = text.replace(
        "  done: {role: $END, prompt: Done.}\n    unclear",
        "  done: {role: guesser, prompt: x}\n    unclear",
    )
    thread = asked(project, uwf, text, "release" if role == "approver" else "asking")
    time.sleep(WITHIN)
    assert uwf.exec(thread).document["status"] == "completed"
    last = uwf.step(uwf.steps(thread)[-1]["step"])
    assert (last["role"], last["status"]) == (role, "gave-up")
    assert last["output"]["kind"] == "timeout"
    assert {each["verdict"] for each in uwf.replay(thread)["steps"]} == {"same"}
    bundle = project.folder / "asked.uwfb"
    uwf.export_thread(thread, bundle)
    Client.verify_bundle(bundle)
    assert project.uwf("cas", "verify").exit_code == 0


def test_an_answer_in_time_is_used_and_nothing_expires_afterwards(project: Project, uwf: Client):
    thread = asked(project, uwf)
    assert uwf.resume(thread, answer=ANSWER).document["status"] == "completed"
    time.sleep(WITHIN)
    uwf.exec(thread)
    assert "expired" not in events(uwf, thread)


def test_an_answer_after_the_deadline_is_kept_for_the_person_and_used_for_nothing(
    project: Project, uwf: Client
):
    thread = asked(project, uwf)
    time.sleep(WITHIN)
    for _ in range(2):
        with pytest.raises(WrongStateError, match="Ship the blue one") as late:
            uwf.resume(thread, answer=ANSWER)
        assert late.value.exit_code == 2
        assert f"uwf thread poke {thread}" in (late.value.hint or "")
    assert (uwf.show(thread)["status"], uwf.show(thread)["currentRole"]) == ("idle", "rescuer")
    uwf.poke(thread, "Once more, please.")
    assert uwf.show(thread)["currentRole"] == "approver"  # who is asked again
    uwf.exec(thread)
    assert uwf.resume(thread, answer=ANSWER).document["status"] == "completed"


def test_an_edge_to_a_person_has_a_deadline_too(project: Project, uwf: Client):
    thread = asked(project, uwf, EDGE, "asking")
    time.sleep(WITHIN)
    with pytest.raises(WrongStateError, match=r"expired.*It is blue"):
        uwf.resume(thread, "It is blue.")
    uwf.exec(thread, until_done=True)
    assert roles(uwf, thread) == ["developer", "guesser"]
    step = uwf.step(uwf.steps(thread)[-1]["step"])
    assert step["attempt"]["edgePrompt"] == "Guess the colour."


def test_a_text_in_time_answers_an_edge(project: Project, uwf: Client):
    thread = asked(project, uwf, EDGE, "asking")
    assert uwf.resume(thread, "It is blue.", until_done=True).document["status"] == "completed"


def test_a_failure_of_the_role_that_took_over_repeats_that_role(project: Project, uwf: Client):
    thread = asked(project, uwf)
    failed = {"fail": {"kind": "crashed", "message": "as scripted"}}
    project.script([SCRIPT[0], {"role": "rescuer", "outputs": [failed, {"$status": "undone"}]}])
    time.sleep(WITHIN)
    assert uwf.exec(thread).exit_code == 6
    assert uwf.exec(thread).document["status"] == "completed"
    assert roles(uwf, thread)[-1] == "rescuer"


def test_a_question_of_an_agent_fails_its_attempt_as_the_configuration_says(
    project: Project, uwf: Client
):
    question = {"message": "Which one?", "form": {"properties": {"one": {"type": "string"}}}}
    project.config("{defaultAgent: mock, questions: {within: 0.3}}")
    project.workflow("asking", EDGE)
    project.script([{"role": "developer", "question": question, "output": {"$status": "done"}}])
    with project.client() as client:
        thread = client.start("asking", "The task.")["thread"]
        client.exec(thread)
        time.sleep(WITHIN)
        with pytest.raises(WrongStateError, match=r"expired.*blue"):
            client.resume(thread, answer='{"one": "blue"}')
        shown = client.show(thread)
        assert (shown["suspendReason"], client.inbox()[0]["failure"]) == ("failure", "timeout")
        assert client.exec(thread).document["suspendReason"] == "role"  # it asks again
        assert client.resume(thread, answer='{"one": "blue"}').document["status"] == "completed"


def test_the_inbox_shows_deadlines_the_nearest_first(project: Project, uwf: Client):
    late = asked(project, uwf, HUMAN.replace("0.3", "2h"))
    endless = asked(
        project,
        uwf,
        EDGE.replace("      within: 0.3\n", "")
        .replace('      expired: {role: guesser, prompt: "Guess the {{{what}}}."}\n', "")
        .replace("  guesser:\n    guessed: {role: $END, prompt: Done.}\n", "")
        .replace(
            "  guesser:\n    goal: Guess.\n    frontmatter: {type: object, properties: "
            "{$status: {const: guessed}}, required: [$status]}\n",
            "",
        ),
        "asking",
    )
    soon = asked(project, uwf, HUMAN.replace("0.3", "1h"))
    items = uwf.inbox()
    assert [each["thread"] for each in items] == [soon, late, endless]
    assert [each["deadline"] is None for each in items] == [False, False, True]
    assert "answer before 20" in project.uwf("inbox", "--format", "text").stdout


def test_tick_expires_a_question_and_leaves_a_thread_alone_that_a_person_steps_through(
    project: Project, uwf: Client
):
    project.workflow("release", HUMAN)
    project.script(SCRIPT, by_role=True)
    thread = uwf.start("release", "The task.")["thread"]
    uwf.exec(thread)
    uwf.exec(thread)
    assert uwf.tick()["nextAtMs"] <= uwf.inbox()[0]["deadline"]  # perhaps that of a reminder
    time.sleep(WITHIN)
    assert uwf.tick()["started"] == []
    shown = uwf.show(thread)
    assert (shown["status"], shown["currentRole"]) == ("idle", "rescuer")


def test_a_fork_of_a_question_has_no_deadline(project: Project, uwf: Client):
    thread = asked(project, uwf, EDGE, "asking")
    time.sleep(WITHIN)
    fork = uwf.fork(uwf.steps(thread)[-1]["step"])["thread"]
    assert uwf.exec(fork).document["status"] == "suspended"
    assert uwf.inbox()[-1]["deadline"] is None or uwf.inbox()[0]["thread"] == thread
    assert uwf.resume(fork, "It is blue.").document["steps"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    within: 0.3\n", "", "missing key 'within' in roles.approver"),
        ("    expired: {role: rescuer, prompt: Nobody approved it. Undo it.}\n", "",
         "missing key 'expired' in roles.approver"),
        ("expired: {role: rescuer,", "expired: {role: $END,", "missing key 'as' in roles"),
        ("expired: {role: rescuer,", "expired: {role: recsuer,", "unknown role 'recsuer' at r"),
        ("prompt: Nobody", 'prompt: "{{{words}}} Nobody', "words"),
        ("    human: true\n", "", "roles.approver.within has no effect"),
        ("prompt: May it go out?}", "prompt: May it go out?, within: 1h, expired: {role: rescuer, "
         "prompt: No.}}", "does not lead to $SUSPEND"),
    ],
)  # fmt: skip
def test_the_check_finds_what_is_wrong(
    project: Project, uwf: Client, old: str, new: str, message: str
):
    text = HUMAN.replace(old, new)
    if "{{{words}}}" in new:
        text = text.replace("Undo it.}", 'Undo it."}')
    project.workflow("release", text)
    with pytest.raises(DefinitionError) as wrong:
        uwf.start("release", "The task.")
    problems = str(wrong.value.message) + str(wrong.value.problems)
    assert message in problems


def test_an_event_that_does_not_follow_from_its_question_is_rejected(project: Project, uwf: Client):
    thread = asked(project, uwf)
    from uwf_core.ids import ThreadId
    from uwf_core.thread.head import read_head

    state = read_head(uwf._engine.store, ThreadId(thread)).state
    waits = state.suspension
    assert isinstance(waits, Suspension)
    assert waits.expires is not None
    deadline = waits.expires["deadline"]
    right = {
        "seq": state.seq,
        "atMs": deadline,
        "deadline": deadline,
        "role": "approver",
        "question": waits.question,
        "next": after_expiry(waits),
    }
    expired = checked_expiry(state, Event("expired", "X", right))
    assert expired is not None
    assert expired.role == "rescuer"
    for wrong in (
        {"atMs": deadline - 1},
        {"deadline": deadline - 1, "atMs": deadline},
        {"role": "developer"},
        {"next": {**right["next"], "role": "approver"}},
    ):
        with pytest.raises(CorruptNodeError):
            checked_expiry(state, Event("expired", "X", {**right, **wrong}))


def test_a_question_that_expired_long_ago_does_not_refuse_what_a_person_says_later(
    project: Project, uwf: Client
):
    project.workflow("release", HUMAN)
    project.script(
        [
            {"role": "developer", "output": {"$status": "done"}},
            {"role": "rescuer", "output": {"$status": "undone"}},
            {"role": "developer", "output": {"$status": "done"}},
        ],
        by_role=True,
    )
    thread = uwf.start("release", "The task.")["thread"]
    uwf.exec(thread, until_done=True)
    time.sleep(WITHIN + 0.1)
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    assert uwf.resume(thread, "Once more, please.").document["steps"][0]["role"] == "developer"
