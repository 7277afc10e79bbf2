"""Called threads that fail: their caller takes the edge of the failure, and they are closed."""

from typing import Any

from tests.core.engine.test_failed_edges import FAILS, roles

from uwf_core.client import Client
from uwf_core.ids import ThreadId
from uwf_core.testing.project import Project
from uwf_core.thread.head import read_head
from uwf_core.views.row import ThreadFilter

WORK = """
version: 1
name: NAME
roles:
  ROLE:
    PLAYER
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: ROLE, prompt: Write it.}
    resume: {role: ROLE, prompt: Write more.}
  ROLE:
    done: {role: $END, prompt: Done.}
"""
LEAF = (
    WORK.replace("NAME", "leaf").replace("ROLE", "developer").replace("PLAYER", "goal: Write it.")
)
MIDDLE = """
version: 1
name: middle
roles:
  inner: {workflow: leaf}
graph:
  $START:
    new: {role: inner, prompt: Write it.}
    resume: {role: inner, prompt: Write more.}
  inner:
    done: {role: $END, prompt: Done.}
"""
CALLER = """
version: 1
name: caller
roles:
  worker: {workflow: CALLED}
  rescuer:
    goal: Undo it.
    frontmatter: {type: object, properties: {$status: {const: undone}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Write it.}
    resume: {role: worker, prompt: Write more.}
  worker:
    done: {role: $END, prompt: Done.}
    $failed: {role: rescuer, prompt: "{{kind}}, {{attempts}}: {{{message}}}"}
  rescuer:
    undone: {role: worker, prompt: Once more.}
"""
DONE = {"$status": "done"}
UNDONE = {"role": "rescuer", "output": {"$status": "undone"}}


def script(project: Project, output: dict[str, Any]) -> None:
    project.script([{"role": "developer", "outputs": [output]}, UNDONE], by_role=True)


def run_through(project: Project, uwf: Client, called: str) -> str:
    """A thread whose first call fails, and whose second one does not."""
    for name, text in (("leaf", LEAF), ("middle", MIDDLE)):
        project.workflow(name, text)
    project.workflow("caller", CALLER.replace("CALLED", called))
    script(project, FAILS)
    thread = str(uwf.start("caller", "The task.")["thread"])
    uwf.exec(thread)
    assert uwf.show(thread)["currentRole"] == "rescuer"
    script(project, DONE)
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    return thread


def check(project: Project, uwf: Client, thread: str) -> None:
    """Replay, `cas verify` and the check of a bundle derive everything."""
    assert {each["verdict"] for each in uwf.replay(thread)["steps"]} == {"same"}
    bundle = project.folder / "caller.uwfb"
    uwf.export_thread(thread, bundle)
    Client.verify_bundle(bundle)
    assert project.uwf("cas", "verify").exit_code == 0


def test_the_failure_of_a_called_thread_closes_it_and_leads_on(project: Project, uwf: Client):
    thread = run_through(project, uwf, "leaf")
    assert roles(uwf, thread) == [("worker", "$failed"), ("rescuer", "undone"), ("worker", "done")]
    failed = uwf.step(str(uwf.steps(thread)[1]["step"]))
    assert (failed["output"]["kind"], failed["output"]["attempts"]) == ("crashed", 1)
    assert "as scripted" in failed["output"]["message"]
    rows = uwf.list(ThreadFilter(all=True, children=True))
    assert sorted(each["status"] for each in rows) == ["cancelled", "completed", "completed"]
    check(project, uwf, thread)


def test_a_failure_below_a_call_without_an_edge_closes_all_of_it(project: Project, uwf: Client):
    thread = run_through(project, uwf, "middle")
    assert roles(uwf, thread)[0] == ("worker", "$failed")
    rows = uwf.list(ThreadFilter(all=True, children=True))
    assert sorted(each["status"] for each in rows) == ["cancelled"] * 2 + ["completed"] * 3
    check(project, uwf, thread)


def test_without_the_edge_the_call_waits_for_a_person(project: Project, uwf: Client):
    edge = CALLER.splitlines()[-3]
    project.workflow("leaf", LEAF)
    text = CALLER.replace("CALLED", "leaf").replace(edge + "\n", "")
    text = text.replace("done: {role: $END", "done: {role: rescuer")
    text = text.replace(
        "undone: {role: worker, prompt: Once more.}", "undone: {role: $END, prompt: x}"
    )
    project.workflow("caller", text)
    project.script([{"role": "developer", "outputs": [FAILS, DONE]}, UNDONE], by_role=True)
    thread = str(uwf.start("caller", "The task.")["thread"])
    assert uwf.exec(thread).document["suspendReason"] == "failure"
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"


def test_the_cost_of_a_failed_call_counts(project: Project, uwf: Client):
    thread = run_through(project, uwf, "leaf")
    assert read_head(uwf._engine.store, ThreadId(thread)).state.ledger["steps"] == 2


def test_tick_takes_the_edge_of_a_failure_below_if_the_run_died_before(project: Project):
    project.workflow("leaf", LEAF)
    project.workflow("caller", CALLER.replace("CALLED", "leaf"))
    script(project, FAILS)
    killed = project.uwf("run", "caller", "-p", "Task.", env={"UWF_TEST_CRASH": "return:1"})
    assert killed.exit_code == -9
    script(project, DONE)
    [thread] = project.uwf("tick").document["started"]
    assert project.uwf("thread", "wait", thread).document["status"] == "completed"
    with project.client() as uwf:
        assert [status for _, status in roles(uwf, thread)] == ["$failed", "undone", "done"]
