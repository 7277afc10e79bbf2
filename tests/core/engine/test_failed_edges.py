"""Failures that lead somewhere: the edge after the last attempt, its step and its record."""

from typing import Any

import pytest
from tests.core.engine.test_retries import FAILED as FAILS
from tests.core.engine.test_retries import developer

from uwf_core.client import Client
from uwf_core.errors import CorruptNodeError, DefinitionError
from uwf_core.ids import Ref, ThreadId
from uwf_core.testing.project import Project
from uwf_core.thread.decisions import Event
from uwf_core.thread.fold import begin, fold
from uwf_core.thread.head import read_head
from uwf_core.thread.history import own_events, state_of_thread

AUTH = {"fail": {"kind": "auth", "message": "no key"}}
INTERNAL = {"fail": {"kind": "internal", "message": "a fault"}}
EDGE = '    $failed: {role: rescuer, prompt: "{{kind}}, {{{message}}}, {{attempts}}"}\n'
ENDS = "    $failed: {role: $END, as: gave-up, prompt: Gave up.}\n"
RETRY = "    retry: {maxAttempts: 2, interval: 0.05}\n"
WORKFLOW = """
version: 1
name: work
roles:
  developer:
    goal: Write it.
RETRY    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  rescuer:
    goal: Undo it.
    frontmatter: {type: object, properties: {$status: {const: undone}}, required: [$status]}
graph:
  $START:
    new: {role: developer, prompt: Write it.}
    resume: {role: developer, prompt: Write more.}
  developer:
    done: {role: rescuer, prompt: Check.}
EDGE  rescuer:
    undone: {role: $END, prompt: Done.}
ANY"""
UNDONE = {"role": "rescuer", "output": {"$status": "undone"}}


def text(edge: str = EDGE, retry: str = "", more: str = "") -> str:
    return WORKFLOW.replace("EDGE", edge).replace("RETRY", retry).replace("ANY", more)


def started(project: Project, uwf: Client, workflow: str, *script: object) -> str:
    project.workflow("work", workflow)
    project.script([*script, UNDONE], by_role=True)
    return str(uwf.start("work", "The task.")["thread"])


def roles(uwf: Client, thread: str) -> list[tuple[str, str]]:
    return [(str(each["role"]), str(each["status"])) for each in uwf.steps(thread)[1:]]


def test_the_last_failed_attempt_leads_to_the_role_of_the_edge(project: Project, uwf: Client):
    thread = started(project, uwf, text(retry=RETRY), developer(FAILS, FAILS))
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed")
    assert roles(uwf, thread) == [("developer", "$failed"), ("rescuer", "undone")]
    failed, rescued = (uwf.step(str(each["step"])) for each in uwf.steps(thread)[1:])
    message = failed["output"]["message"]
    assert "as scripted" in message
    assert failed["output"] == {
        "$status": "$failed", "kind": "crashed", "message": message, "attempts": 2,
    }  # fmt: skip
    assert (failed["agent"], failed["session"]) == (None, None)
    assert len(failed["previousAttempts"]) == 2
    assert rescued["attempt"]["edgePrompt"] == f"crashed, {message}, 2"


def test_it_is_no_step_of_an_agent_but_a_visit(project: Project, uwf: Client):
    loop = text(EDGE.replace("role: rescuer", "role: developer"))
    limited = loop.replace(
        "    goal: Write it.\n", "    goal: Write it.\n    limits: {maxVisits: 2}\n"
    )
    thread = started(project, uwf, limited, developer(FAILS, FAILS, FAILS))
    assert uwf.exec(thread, until_done=True).document["suspendReason"] == "limit"
    assert roles(uwf, thread) == [("developer", "$failed")] * 2
    assert read_head(uwf._engine.store, ThreadId(thread)).state.ledger["steps"] == 0


def test_kinds_that_no_retry_helps_lead_on_and_faults_of_uwf_do_not(project: Project, uwf: Client):
    thread = started(project, uwf, text(), developer(AUTH))
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    other = started(project, uwf, text(), developer(INTERNAL))
    assert uwf.exec(other).document["suspendReason"] == "failure"


def test_a_failure_before_the_agent_starts_belongs_to_the_next_role(project: Project, uwf: Client):
    missing = text().replace("prompt: Write it.}", "prompt: Write it., location: nowhere}")
    thread = started(project, uwf, missing)
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    failed = uwf.step(str(uwf.steps(thread)[1]["step"]))
    assert (failed["output"]["kind"], failed["output"]["attempts"]) == ("routing", 0)


def test_any_serves_the_roles_without_their_own_edge(project: Project, uwf: Client):
    anyone = "  $any:\n    $failed: {role: $END, as: gave-up, prompt: Gave up.}\n"
    workflow = text("    $failed: {role: rescuer, prompt: Undo.}\n", more=anyone)
    project.workflow("work", workflow)
    project.script([developer(FAILS), {"role": "rescuer", "outputs": [FAILS]}], by_role=True)
    thread = str(uwf.start("work", "The task.")["thread"])
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    assert roles(uwf, thread) == [("developer", "$failed"), ("rescuer", "gave-up")]


def test_without_an_edge_it_waits_for_a_person(project: Project, uwf: Client):
    thread = started(project, uwf, text(""), developer(FAILS))
    assert uwf.exec(thread).document["suspendReason"] == "failure"


@pytest.mark.parametrize("edge", [EDGE, ENDS])
def test_replay_verify_and_bundles_derive_it(project: Project, uwf: Client, edge: str):
    thread = started(project, uwf, text(edge, RETRY), developer(FAILS, FAILS))
    uwf.exec(thread, until_done=True)
    assert {each["verdict"] for each in uwf.replay(thread)["steps"]} == {"same"}
    bundle = project.folder / "work.uwfb"
    uwf.export_thread(thread, bundle)
    Client.verify_bundle(bundle)
    assert project.uwf("cas", "verify").exit_code == 0


def test_a_forged_step_is_damage(project: Project, uwf: Client):
    thread = started(project, uwf, text(), developer(FAILS))
    uwf.exec(thread)
    store = uwf._engine.store
    head = read_head(store, ThreadId(thread))
    assert state_of_thread(store, ThreadId(thread), head.ref) == head.state
    *before, step = own_events(store, ThreadId(thread), Ref(head.ref))
    state = begin(before[0])
    for event in before[1:]:
        state = fold(state, event)
    fold(state, step)
    changes: list[dict[str, Any]] = [
        {"role": "rescuer"}, {"number": 2}, {"status": "done"}, {"output": step.payload["start"]},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(CorruptNodeError):
            fold(state, Event("step", step.ref, {**step.payload, **change}))
    with pytest.raises(CorruptNodeError):  # nothing has failed
        fold(begin(before[0]), Event("step", step.ref, {**step.payload, "seq": 1}))


def test_check_names_what_is_wrong(project: Project, uwf: Client):
    wrong = {
        "missing key 'as'": text(ENDS.replace("as: gave-up, ", "")),
        "has no field 'nope'": text(EDGE.replace("{{kind}}", "{{nope}}")),
        "delivers the status 'done' itself": text(ENDS.replace("gave-up", "done")),
        ".as has no effect": text(EDGE.replace("prompt:", "as: gave-up, prompt:")),
        "$any has the edge 'done'": text(more="  $any:\n    done: {role: $END, prompt: x}\n"),
        "'$failed'": text().replace("{const: done}", "{const: $failed}"),
        "leads to branches": text(
            "    $failed: {parallel: {a: {role: rescuer, prompt: x}}, then: "
            "{undone: {role: $END, prompt: x}, $mixed: {role: $END, prompt: x}}}\n"
        ),
    }
    for words, workflow in wrong.items():
        project.workflow("wrong", workflow.replace("name: work", "name: wrong"))
        with pytest.raises(DefinitionError) as caught:
            uwf.start("wrong", "The task.")
        assert words in str([each["message"] for each in caught.value.problems]), words


def test_a_caller_has_an_edge_for_the_status_of_a_failure(project: Project, uwf: Client):
    project.workflow("work", text(ENDS))
    project.script([developer(FAILS)], by_role=True)
    caller = """
version: 1
name: caller
roles:
  worker: {workflow: work}
graph:
  $START:
    new: {role: worker, prompt: Write it.}
    resume: {role: worker, prompt: Write more.}
  worker:
    undone: {role: $END, prompt: Done.}
"""
    project.workflow("caller", caller)
    with pytest.raises(DefinitionError) as wrong:
        uwf.start("caller", "The task.")
    assert "no edge for the status 'gave-up'" in str(wrong.value.message)
    known = "    gave-up: {role: $END, prompt: '{{kind}} {{attempts}}'}\n"
    project.workflow("caller", caller + known)
    thread = str(uwf.start("caller", "The task.")["thread"])
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    assert roles(uwf, thread) == [("worker", "gave-up")]
    assert {each["verdict"] for each in uwf.replay(thread)["steps"]} == {"same"}
    assert project.uwf("cas", "verify").exit_code == 0


def test_an_edge_that_leads_back_to_the_same_failure_ends_for_a_person(
    project: Project, uwf: Client
):
    back = "    $failed: {role: developer, prompt: Again., location: nowhere}\n"
    thread = started(project, uwf, text(back), developer(FAILS))
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (1, "failure")
    assert len(roles(uwf, thread)) == 5  # the first one failed otherwise
    assert [each["thread"] for each in uwf.inbox()] == [thread]
    assert uwf.verify(thread)["problems"] == []
