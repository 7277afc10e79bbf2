"""Branches that fail, wait, run elsewhere, are stopped or cancelled, while others go on."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from tests.core.calling import child_of, children, roles
from tests.core.obeying import (
    begin,
    branches,
    for_each,
    joined,
    joint_output,
    obeying_project,
    parallel,
    statuses,
    task,
    two_roles,
)
from tests.crash.rig import eventually
from tests.step_parts import call_of

from uwf_core.client import Cancel, Client, Outcome
from uwf_core.errors import BusyError, UsageError, WrongStateError
from uwf_core.testing.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return obeying_project(tmp_path, one=for_each("one", most="1"))


def planned(uwf: Client, *does: str, workflow: str = "each") -> str:
    """A root whose next step is its fan-out."""
    root = uwf.start(workflow, task(*does))["thread"]
    assert roles(uwf.exec(root).document["steps"]) == ["planner"]
    return root


def finish(uwf: Client, root: str) -> None:
    """Run the root to its end, and check all that is stored."""
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome
    found = uwf.verify()
    assert found["valid"], found["problems"]


@contextmanager
def running(project: Project, root: str) -> Iterator[list[Outcome]]:
    """Another client that runs the root until nothing is left; gives its outcome at the end."""
    outcomes: list[Outcome] = []

    def run() -> None:
        with project.client() as own:
            outcomes.append(own.exec(root, until_done=True))

    thread = Thread(target=run)
    thread.start()
    try:
        yield outcomes
    finally:
        thread.join(60)


@contextmanager
def elsewhere(project: Project, uwf: Client, *words: str) -> Iterator[None]:
    """While another process acts on a thread: `words` are the command and the thread. It goes on at
    the end.
    """
    process = project.start_uwf("thread", *words)
    assert eventually(lambda: is_running(uwf, words[1]))
    try:
        yield
    finally:
        (project.home / "go").touch()
        process.communicate(timeout=60)


def is_running(uwf: Client, thread: str) -> bool:
    return uwf.show(thread)["running"] is not None


def test_a_branch_that_fails_stops_no_other_and_exec_then_runs_only_what_is_left(
    uwf: Client,
) -> None:
    root = planned(uwf, "fail=1", "", "", "")
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (6, "failure")
    assert statuses(uwf, root) == ["failure", "completed", "completed", "completed"]
    first, *others = branches(uwf, root)
    outcome = uwf.exec(root)
    assert [step["thread"] for step in outcome.document["steps"]] == [first]
    assert [len(uwf.steps(each)) for each in (first, *others)] == [2, 2, 2, 2]
    finish(uwf, root)


def test_a_branch_that_waits_stops_no_other(uwf: Client) -> None:
    root = planned(uwf, "ask", "say=suspend", "", "")
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (3, "role")
    assert outcome.document["suspendMessage"] == "Which word?"
    assert statuses(uwf, root) == ["role", "role", "completed", "completed"]
    again = uwf.exec(root, until_done=True)
    assert (again.exit_code, again.document["steps"]) == (3, [])


def test_one_exec_takes_one_round_of_the_branches_that_may_run_at_a_time(uwf: Client) -> None:
    root = planned(uwf, *[""] * 6)
    taken = []
    while uwf.show(root)["status"] != "completed":
        outcome = uwf.exec(root)
        assert outcome.exit_code == 0
        taken.append(roles(outcome.document["steps"]))
    assert taken == [["worker"] * 4, ["worker"] * 2, ["reviewer"]]


def test_a_round_on_a_store_in_memory_is_the_same(project: Project) -> None:
    with project.client(store="memory:") as memory:
        root = planned(memory, *[""] * 6)
        taken = [len(memory.exec(root).document["steps"]) for _ in range(3)]
        assert taken == [4, 2, 1]
        assert memory.show(root)["status"] == "completed"


@pytest.mark.parametrize("store", ["", "memory:"])
def test_a_count_is_a_number_of_leaf_steps(project: Project, store: str) -> None:
    with project.client(store=store or None) as uwf:
        root = uwf.start("each", task(*[""] * 6))["thread"]
        outcome = uwf.exec(root, count=3)
        assert roles(outcome.document["steps"]) == ["planner", "worker", "worker"]
        outcome = uwf.exec(root, count=3)
        assert roles(outcome.document["steps"]) == ["worker"] * 3
        outcome = uwf.exec(root, count=3)
        assert roles(outcome.document["steps"]) == ["worker", "reviewer"]
        assert uwf.show(root)["status"] == "completed"


def test_until_done_takes_at_most_a_hundred_leaf_steps(project: Project) -> None:
    with project.client(durable=False) as uwf:
        root = uwf.start("each", task(*[""] * 103))["thread"]
        outcome = uwf.exec(root, until_done=True)
        assert (outcome.exit_code, len(outcome.document["steps"])) == (5, 100)
        finish(uwf, root)


def test_a_branch_that_runs_elsewhere_is_left_alone(project: Project, uwf: Client) -> None:
    root = planned(uwf, f"until={project.home / 'go'}", "", "")
    begin(project, root)
    first, second, third = branches(uwf, root)
    with elsewhere(project, uwf, "exec", first):
        outcome = uwf.exec(root, until_done=True)
        assert sorted(step["thread"] for step in outcome.document["steps"]) == [second, third]
        assert (outcome.exit_code, outcome.document["status"]) == (75, "running")
        with pytest.raises(BusyError, match="run in other processes"):
            uwf.exec(root)
    finish(uwf, root)


def test_a_round_beside_a_branch_that_runs_elsewhere_is_done(project: Project, uwf: Client) -> None:
    root = planned(uwf, f"until={project.home / 'go'}", *[""] * 3, workflow="one")
    begin(project, root)
    with elsewhere(project, uwf, "exec", branches(uwf, root)[0]):
        outcome = uwf.exec(root)
        assert (outcome.exit_code, len(outcome.document["steps"])) == (0, 1)
    finish(uwf, root)


CALLING = """\
version: 1
name: calling
roles:
  work: {workflow: each}
graph:
  $START:
    new: {role: work, prompt: PROMPT}
    resume: {role: work, prompt: Again.}
  work:
    approved: {role: $END, prompt: Done.}
"""


def test_a_caller_of_a_round_beside_a_branch_that_runs_elsewhere_is_running(
    project: Project, uwf: Client
) -> None:
    """tree.md 2.4 and 2.5: as `exec` of the called thread itself."""
    project.workflow("each", for_each("each", mixed="reviewer"))
    prompt = json.dumps(task(f"until={project.home / 'go'}", "", ""))
    project.workflow("calling", CALLING.replace("PROMPT", prompt))
    root = uwf.start("calling", "Do it.")["thread"]
    assert roles(uwf.exec(root).document["steps"]) == ["planner"]
    begin(project, root)
    with elsewhere(project, uwf, "exec", branches(uwf, child_of(uwf, root))[0]):
        outcome = uwf.exec(root)
        assert len(outcome.document["steps"]) == 2
        assert (outcome.exit_code, outcome.document["status"]) == (75, "running")
    finish(uwf, root)


def test_exec_of_a_branch_takes_its_own_lock_alone(project: Project, uwf: Client) -> None:
    root = planned(uwf, f"until={project.home / 'go'}", "", "", workflow="one")
    begin(project, root)
    first, second, third = branches(uwf, root)
    with elsewhere(project, uwf, "exec", root):
        assert eventually(lambda: is_running(uwf, first))
        assert uwf.exec(second).document["status"] == "completed"
    outcome = uwf.exec(root)
    assert [step["thread"] for step in outcome.document["steps"]] == [third]


def test_branches_that_ended_elsewhere_are_recorded_before_the_next_step(
    project: Project, uwf: Client
) -> None:
    root = planned(uwf, "", "")
    begin(project, root)
    for each in branches(uwf, root):
        uwf.exec(each)
    outcome = uwf.exec(root)
    assert roles(outcome.document["steps"]) == ["reviewer"]
    assert uwf.show(root)["status"] == "completed"


def test_the_shown_reason_is_that_of_the_worst_branch_then_of_the_first(
    project: Project, uwf: Client
) -> None:
    root = planned(uwf, "ask", "say=suspend", "fail=1", "")
    assert uwf.exec(root, until_done=True).exit_code == 6
    shown = uwf.show(root)
    assert (shown["status"], shown["suspendReason"]) == ("suspended", "failure")
    assert shown["suspendedRole"] == "planner/planned"
    assert uwf.exec(root, until_done=True).exit_code == 3
    assert uwf.show(root)["suspendMessage"] == "Which word?"
    uwf.cancel(branches(uwf, root)[0])
    assert uwf.show(root)["suspendMessage"] == "I wait"
    words = ("resume", branches(uwf, root)[1], "-p", f"DO until={project.home / 'go'}")
    with elsewhere(project, uwf, *words):
        assert uwf.show(root)["status"] == "running"


def test_a_limit_is_shown_before_a_question(project: Project) -> None:
    text = for_each("limited", most="1")
    text = text.replace("  worker:\n", "  worker:\n    limits: {maxSteps: 2}\n")
    project.workflow("limited", text)
    with project.client() as uwf:
        root = planned(uwf, "say=suspend", "", "", workflow="limited")
        outcome = uwf.exec(root, until_done=True)
        assert (outcome.exit_code, uwf.show(root)["suspendReason"]) == (5, "limit")
        assert statuses(uwf, root) == ["role", "completed", "limit"]


def test_resume_of_the_root_reaches_the_one_branch_that_waits(uwf: Client) -> None:
    root = planned(uwf, "ask", "", "")
    uwf.exec(root, until_done=True)
    outcome = uwf.resume(root, answer="word=x", until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed")
    assert outcome.document["thread"] == root
    assert roles(outcome.document["steps"]) == ["worker", "reviewer"]
    assert joint_output(uwf, root)["results"][0]["word"] == "x"


def test_resume_of_a_root_below_which_several_wait_lists_them(uwf: Client) -> None:
    root = planned(uwf, "ask", "ask", "")
    uwf.exec(root, until_done=True)
    first, second, _ = branches(uwf, root)
    with pytest.raises(UsageError) as raised:
        uwf.resume(root, answer="word=x")
    assert raised.value.exit_code == 2
    assert first in str(raised.value)
    assert second in str(raised.value)
    assert uwf.resume(first, answer="word=x").exit_code == 0
    assert uwf.resume(root, answer="word=y", until_done=True).document["status"] == "completed"
    assert [each.get("word") for each in joint_output(uwf, root)["results"]] == ["x", "y", None]


@pytest.mark.parametrize("through", ["root", "branch"])
def test_a_branch_that_a_person_answers_while_the_root_runs_is_continued_by_it(
    project: Project, uwf: Client, through: str
) -> None:
    root = planned(uwf, "ask", f"until={project.home / 'go'}")
    with running(project, root) as outcomes:
        assert eventually(lambda: statuses(uwf, root)[:1] == ["role"])
        branch = branches(uwf, root)[0]
        resumed = uwf.resume(root if through == "root" else branch, answer="word=x")
        assert resumed.exit_code == 0
        assert uwf.show(branch)["status"] == "completed"
        assert is_running(uwf, root)
        (project.home / "go").touch()
    assert outcomes[0].document["status"] == "completed"
    assert joint_output(uwf, root)["results"][0]["word"] == "x"
    assert uwf.verify()["valid"]


def test_what_is_left_of_an_answered_branch_runs_in_the_process_of_the_root(
    project: Project, uwf: Client
) -> None:
    project.workflow("checked", TWO_STEPS)
    project.workflow("deep", for_each("deep", "\n    workflow: checked\n", done="reviewer"))
    root = planned(uwf, "ask", f"until={project.home / 'go'}", workflow="deep")
    with running(project, root) as outcomes:
        assert eventually(lambda: statuses(uwf, root)[:1] == ["role"])
        branch = branches(uwf, root)[0]
        time.sleep(1)  # the process of the branch has ended, and the root leaves it alone
        assert uwf.resume(root, answer="word=x").document["status"] == "running"
        assert eventually(lambda: uwf.show(branch)["status"] == "completed")
        assert is_running(uwf, root)
        (project.home / "go").touch()
    told = [(step["thread"], step["role"]) for step in outcomes[0].document["steps"]]
    assert (branch, "second") in told
    assert uwf.show(root)["status"] == "completed"


TWO_STEPS = two_roles("first", "second", "Check it DO")


def test_stop_goes_down_and_exec_continues(project: Project, uwf: Client) -> None:
    root = planned(uwf, "sleep=600000", "", "sleep=600000")
    process = project.start_uwf("thread", "exec", root, "--until-done")
    threads = _begun(uwf, root, 3)
    assert eventually(lambda: uwf.show(threads[1])["status"] == "completed")
    assert uwf.stop(root)["suspendReason"] == "interrupted"
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not any(is_running(uwf, each) for each in (root, *threads))
    assert statuses(uwf, root) == ["interrupted", "completed", "interrupted"]
    for each in threads[0], threads[2]:
        uwf.cancel(each)
    finish(uwf, root)


def test_stop_of_a_branch_stops_it_alone(project: Project, uwf: Client) -> None:
    root = planned(uwf, "sleep=600000", f"until={project.home / 'go'}")
    process = project.start_uwf("thread", "exec", root, "--until-done")
    first, second = _begun(uwf, root, 2)
    uwf.stop(first)
    assert statuses(uwf, root)[0] == "interrupted"
    assert is_running(uwf, root)
    (project.home / "go").touch()
    out, _ = process.communicate(timeout=60)
    assert uwf.show(second)["status"] == "completed"
    assert process.returncode == 130, out


def test_cancel_of_a_running_branch_leaves_the_others_and_the_root_records_it(
    project: Project, uwf: Client
) -> None:
    root = planned(uwf, "sleep=600000", f"until={project.home / 'go'}")
    process = project.start_uwf("thread", "exec", root, "--until-done")
    first, _ = _begun(uwf, root, 2)
    uwf.cancel(first)
    (project.home / "go").touch()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert joint_output(uwf, root)["$status"] == "$mixed"
    assert [each["status"] for each in call_of(joined(uwf, root))["branches"]] == [
        "$cancelled",
        "done",
    ]
    assert uwf.verify()["valid"]


def _begun(uwf: Client, root: str, count: int) -> list[str]:
    """The branches, once all that may run do."""
    assert eventually(lambda: len(branches(uwf, root)) == count)
    found = branches(uwf, root)

    def has_begun(branch: str) -> bool:
        attempts = uwf._engine.store.variables(f"@uwf/attempt/{branch}/")
        return bool(attempts) or uwf.show(branch)["steps"] > 0

    assert eventually(lambda: all(has_begun(each) for each in found))
    return found


def test_cancel_goes_down(uwf: Client) -> None:
    root = planned(uwf, "ask", "fail=1", "")
    uwf.exec(root, until_done=True)
    threads = branches(uwf, root)
    uwf.cancel(root)
    shown = [uwf.show(each)["status"] for each in (root, *threads)]
    assert shown == ["cancelled", "cancelled", "cancelled", "completed"]
    for each in threads[:2]:
        with pytest.raises(WrongStateError):
            uwf.exec(each)


def test_a_recorded_branch_takes_no_further_step(uwf: Client) -> None:
    root = planned(uwf, "", "")
    finish(uwf, root)
    [first, _] = children(uwf, root)
    acts: list[Callable[[str], object]] = [
        uwf.exec, uwf.resume, lambda each: uwf.poke(each, "again"),
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(WrongStateError, match="is recorded in step 2"):
            act(first)


def test_a_run_that_is_stopped_before_it_begins_starts_no_branch(
    project: Project, uwf: Client
) -> None:
    root = planned(uwf, "", "")
    cancel = Cancel()
    cancel.set("stopped")
    assert uwf.exec(root, cancel=cancel).exit_code == 130
    assert branches(uwf, root) == []
    begin(project, root)
    assert uwf.exec(root, cancel=cancel).exit_code == 130
    assert statuses(uwf, root) == ["idle", "idle"]
    finish(uwf, root)
    assert call_of(joined(uwf, root))["children"]


def test_named_branches_stay_in_the_order_of_the_file_whatever_their_threads_are(
    project: Project, uwf: Client
) -> None:
    project.workflow("both", parallel("both", safe="safe DO", style="style DO"))
    root = planned(uwf, workflow="both")
    begin(project, root)
    uwf.cancel(branches(uwf, root)[0])  # so the next call of it is a new thread, the newest of all
    finish(uwf, root)
    uwf.resume(root, "Again.")
    begin(project, root)
    finish(uwf, root)
    names = [(each["name"], each["status"]) for each in call_of(joined(uwf, root))["branches"]]
    assert names == [("safe", "done"), ("style", "done")]
    safe, style = (each["thread"] for each in call_of(joined(uwf, root))["branches"])
    assert safe > style
    assert joint_output(uwf, root)["safe"]["summary"] == "worker: safe"


@pytest.mark.parametrize("point", ["call:2", "calls:1"])
def test_all_branches_begin_or_none(project: Project, uwf: Client, point: str) -> None:
    root = planned(uwf, "", "", "")
    died = project.uwf("thread", "exec", root, env={"UWF_TEST_CRASH": point})
    assert died.exit_code == -9
    assert (branches(uwf, root), children(uwf, root)) == ([], [])
    finish(uwf, root)
    assert len(call_of(joined(uwf, root))["branches"]) == 3
