"""Branches: what each kind delivers, and the joint result that their caller records."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.core.calling import children, roles
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
from tests.step_parts import call_of, session_of

from uwf_core.client import Client
from uwf_core.engine import child_run
from uwf_core.ids import Ref
from uwf_core.process.program import start_program
from uwf_core.testing.project import Project

PROGRAM = r"""
    program:
      argv: [sh, -c, 'echo "{\"summary\": \"$0\"}"; exit $1', "{{{title}}}", "{{{do}}}"]
      statuses: {0: done, 1: stuck}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}, summary: {type: string}}, required: [$status]}
        - {properties: {$status: {const: stuck}, summary: {type: string}}, required: [$status]}
"""
PERSON = """
    human: true
    goal: Do it yourself.
    frontmatter:
      properties: {$status: {const: done}, summary: {type: string}}
      required: [$status]
"""
CALLED = """
    workflow: checked
"""
CHECKED = two_roles("worker", "reviewer", "checked DO say=approved", status="approved")
OVER_WORKFLOWS = for_each("deep", CALLED).replace("        done: {role", "        approved: {role")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return obeying_project(
        tmp_path,
        checked=CHECKED,
        deep=OVER_WORKFLOWS,
        people=for_each("people", PERSON),
        both=parallel("both", safe="safe DO", style="style DO"),
    )


def run(uwf: Client, workflow: str, *does: str) -> str:
    """A root that has run to its end."""
    root = uwf.start(workflow, task(*does))["thread"]
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome
    found = uwf.verify()
    assert found["valid"], found["problems"]
    return root


def results(uwf: Client, root: str) -> list[tuple[int, str]]:
    output = joint_output(uwf, root)
    return [(each["$index"], each["$status"]) for each in output["results"]]


def test_each_item_of_a_list_is_a_branch_and_one_step_records_them_in_the_order_of_the_list(
    uwf: Client,
) -> None:
    root = run(uwf, "each", "", "", "")
    assert roles(uwf.steps(root)) == ["$START", "planner", "planner/planned", "reviewer"]
    result = {"$status": "done", "_body": ""}
    expected = [
        {"$index": number, "summary": f"worker: t{number}", **result} for number in range(3)
    ]
    assert joint_output(uwf, root) == {"$status": "done", "results": expected}
    step = joined(uwf, root)
    threads = [each["thread"] for each in call_of(step)["branches"]]
    assert threads == children(uwf, root)
    assert list(call_of(step)["children"]) == [uwf.show(each)["head"] for each in threads]
    assert "0 worker: t0 1 worker: t1 2 worker: t2" in uwf.prompt(uwf.show(root)["head"])
    assert branches(uwf, root) == []


def test_a_process_runs_one_branch_after_another(
    uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    def start(program: Any, *limits: Any, **given: Any) -> Any:
        started.append(program)
        return start_program(program, *limits, **given)

    monkeypatch.setattr(child_run, "start_program", start)
    run(uwf, "each", *[""] * 9)
    assert 0 < len(started) <= 4


def test_a_process_that_dies_between_two_branches_is_replaced(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.workflow("one", for_each("one", most="1"))
    killed: list[int] = []
    usual = child_run.Workers.run

    def run_and_kill(workers: child_run.Workers, *branch: Any) -> Any:
        outcome = usual(workers, *branch)
        killed.extend(worker.program.identity.pid for worker in workers._idle)
        os.kill(killed[-1], signal.SIGKILL)
        return outcome

    monkeypatch.setattr(child_run.Workers, "run", run_and_kill)
    run(uwf, "one", "", "", "")
    assert len(set(killed)) == 3


def test_the_joint_output_is_the_same_node_whatever_finished_first(
    project: Project, uwf: Client
) -> None:
    first = _run_in_order(project, uwf, 2, 1, 0)
    second = _run_in_order(project, uwf, 0, 1, 2)
    with project.client(durable=False) as in_turn:
        third = run(in_turn, "each", "", "", "")
    ends = [_order_of_ends(uwf, root) for root in (first, second, third)]
    assert ends == [[2, 1, 0], [0, 1, 2], [0, 1, 2]]
    assert len({joined(uwf, root)["output"] for root in (first, second, third)}) == 1


def _run_in_order(project: Project, uwf: Client, *order: int) -> str:
    """A root whose branches run at the same time, and end in this order."""
    name = "".join(map(str, order))
    files = [project.home / f"{name}-{number}" for number in range(len(order))]
    root = uwf.start("each", task(*[f"until={file}" for file in files]))["thread"]
    running = project.start_uwf("thread", "exec", root, "--until-done")
    assert eventually(lambda: len(branches(uwf, root)) == len(order))
    found = branches(uwf, root)
    for number in order:
        files[number].touch()
        assert eventually(lambda at=number: uwf.show(found[at])["status"] == "completed")
    running.communicate(timeout=60)
    assert running.returncode == 0
    assert uwf.verify()["valid"]
    return root


def _order_of_ends(uwf: Client, root: str) -> list[int]:
    ends = [uwf.step(ref)["completedAtMs"] for ref in call_of(joined(uwf, root))["children"]]
    return sorted(range(len(ends)), key=ends.__getitem__)


def test_a_store_in_memory_and_a_client_with_options_give_the_same_outputs(
    project: Project, uwf: Client
) -> None:
    def output(client: Client, workflow: str) -> object:
        does = "" if workflow == "deep" else "say=stuck"
        return joint_output(client, run(client, workflow, "", does, "sleep=10"))

    for workflow in ("each", "deep", "both"):
        expected = output(uwf, workflow)
        with project.client(store="memory:") as memory:
            assert output(memory, workflow) == expected
        with project.client(pass_env=["HOME"]) as own:
            assert output(own, workflow) == expected


def test_branches_run_at_the_same_time(uwf: Client) -> None:
    root = run(uwf, "each", *["meet=4"] * 4)
    spans = []
    for ref in call_of(joined(uwf, root))["children"]:
        step = uwf.step(ref)
        spans.append((step["startedAtMs"], step["completedAtMs"]))
    assert max(start for start, _ in spans) <= min(end for _, end in spans)


def test_at_most_max_parallel_branches_run_at_the_same_time(project: Project, uwf: Client) -> None:
    project.workflow("two", for_each("two", most="2"))
    root = run(uwf, "two", *["meet=2 sleep=100"] * 4)
    moments = []
    for ref in call_of(joined(uwf, root))["children"]:
        step = uwf.step(ref)
        moments += [(step["startedAtMs"], 1), (step["completedAtMs"], -1)]
    running, most = 0, 0
    for _, change in sorted(moments):
        running += change
        most = max(most, running)
    assert most == 2


def test_named_branches_are_in_the_output_by_their_names(uwf: Client) -> None:
    root = run(uwf, "both")
    output = joint_output(uwf, root)
    assert output["$status"] == "done"
    assert [each["summary"] for each in output["results"]] == ["worker: safe", "worker: style"]
    assert (output["safe"], output["style"]) == tuple(output["results"])
    assert [each["name"] for each in call_of(joined(uwf, root))["branches"]] == ["safe", "style"]


@pytest.mark.parametrize(
    "does", [("", "say=stuck"), ("say=stuck", "say=stuck")], ids=["different", "without an edge"]
)
def test_anything_but_one_status_with_an_edge_is_mixed(uwf: Client, does: tuple[str, ...]) -> None:
    root = run(uwf, "each", *does)
    assert joint_output(uwf, root)["$status"] == "$mixed"
    wanted = ["stuck" if "stuck" in each else "done" for each in does]
    assert results(uwf, root) == list(enumerate(wanted))
    assert uwf.show(root)["steps"] == 2


def test_an_empty_list_is_recorded_at_once_and_creates_no_thread(uwf: Client) -> None:
    root = run(uwf, "each")
    assert roles(uwf.steps(root)) == ["$START", "planner", "planner/planned", "reviewer"]
    assert joint_output(uwf, root) == {"$status": "$empty", "results": []}
    assert children(uwf, root) == []
    assert "There was nothing to do." in uwf.prompt(uwf.show(root)["head"])


def test_a_cancelled_branch_is_part_of_a_mixed_result(uwf: Client) -> None:
    root = uwf.start("each", task("", "", "ask"))["thread"]
    assert uwf.exec(root, until_done=True).exit_code == 3
    uwf.cancel(branches(uwf, root)[2])
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed")
    assert joint_output(uwf, root)["$status"] == "$mixed"
    assert results(uwf, root) == [(0, "done"), (1, "done"), (2, "$cancelled")]
    cancelled = joint_output(uwf, root)["results"][2]
    assert cancelled == {"$index": 2, "$status": "$cancelled", "_body": ""}
    assert uwf.verify()["valid"]


def test_a_result_of_cancelled_branches_alone_is_mixed(project: Project, uwf: Client) -> None:
    root = uwf.start("each", task("", ""))["thread"]
    uwf.exec(root)
    begin(project, root)
    for branch in branches(uwf, root):
        uwf.cancel(branch)
    assert uwf.exec(root).document["steps"] == []
    assert joint_output(uwf, root)["$status"] == "$mixed"
    assert uwf.verify()["valid"]


def test_a_branch_of_a_program_gets_its_item_and_its_exit_code_is_the_status(
    project: Project, uwf: Client
) -> None:
    file = project.workflow("run", for_each("run", PROGRAM))
    uwf.add_workflow(file, allow_programs=True)
    root = run(uwf, "run", "0", "1", "0")
    assert results(uwf, root) == [(0, "done"), (1, "stuck"), (2, "done")]
    said = [each["summary"] for each in joint_output(uwf, root)["results"]]
    assert said == ["t0", "t1", "t2"]


def test_a_branch_of_a_person_waits_for_each_answer(uwf: Client) -> None:
    root = uwf.start("people", task("", ""))["thread"]
    assert uwf.exec(root, until_done=True).exit_code == 3
    assert statuses(uwf, root) == ["role", "role"]
    for number, branch in enumerate(branches(uwf, root)):
        answer = f"$status=done\nsummary=person {number}"
        assert uwf.resume(branch, answer=answer).exit_code == 0
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    said = [each["summary"] for each in joint_output(uwf, root)["results"]]
    assert said == ["person 0", "person 1"]


def test_a_branch_that_is_a_workflow_takes_all_its_steps(uwf: Client) -> None:
    root = run(uwf, "deep", "", "")
    output = joint_output(uwf, root)
    assert output["$status"] == "approved"
    for branch in call_of(joined(uwf, root))["branches"]:
        assert roles(uwf.steps(branch["thread"])) == ["$START", "worker", "reviewer"]
    assert uwf.show(root)["usage"]["inputTokens"] == 60
    assert call_of(joined(uwf, root))["usage"]["steps"] == 4


def test_a_named_branch_continues_its_thread_and_an_item_never_does(uwf: Client) -> None:
    for workflow, again in (("both", True), ("each", False)):
        root = run(uwf, workflow, "", "")
        first = [each["thread"] for each in call_of(joined(uwf, root))["branches"]]
        uwf.resume(root, "Again.", until_done=True)
        assert uwf.show(root)["status"] == "completed"
        second = [each["thread"] for each in call_of(joined(uwf, root))["branches"]]
        assert (first == second) is again
        assert len(uwf.steps(second[0])) == (3 if again else 2)
        assert call_of(joined(uwf, root))["usage"]["steps"] == 2
        assert uwf.show(root)["usage"]["inputTokens"] == 80


def test_a_further_task_of_a_named_branch_is_its_new_prompt(uwf: Client) -> None:
    root = run(uwf, "both")
    uwf.resume(root, "Again.", until_done=True)
    branch = call_of(joined(uwf, root))["branches"][0]["thread"]
    newest = list(uwf.thread(branch).steps())[-1]
    assert newest.edge_prompt == "There is a further task:\n\nsafe DO"
    assert session_of(newest.node)["continuation"] == "continued"
    assert uwf.verify()["valid"]


def test_a_fork_before_a_fan_out_calls_anew_and_one_after_it_forks_named_branches(
    uwf: Client,
) -> None:
    root = run(uwf, "both")
    steps = [step.ref for step in uwf.thread(root).steps()]
    threads = [each["thread"] for each in call_of(joined(uwf, root))["branches"]]
    before = uwf.fork(steps[0])["thread"]
    uwf.exec(before, until_done=True)
    anew = [each["thread"] for each in call_of(joined(uwf, before))["branches"]]
    assert not set(anew) & set(threads)
    assert [len(uwf.steps(each)) for each in anew] == [2, 2]
    after = uwf.fork(steps[-1])["thread"]
    uwf.resume(after, "Again.", until_done=True)
    forked = [each["thread"] for each in call_of(joined(uwf, after))["branches"]]
    assert not set(forked) & {*threads, *anew}
    assert [len(uwf.steps(each)) for each in forked] == [3, 3]
    assert [len(uwf.steps(each)) for each in threads] == [2, 2]
    assert uwf.show(root)["status"] == "completed"
    assert uwf.verify()["valid"]


def test_a_fork_during_a_fan_out_takes_no_open_branch_along(uwf: Client) -> None:
    root = uwf.start("each", task("", "fail=1"))["thread"]
    assert uwf.exec(root, until_done=True).exit_code == 6
    fork = uwf.fork(uwf.show(root)["head"])["thread"]
    assert branches(uwf, fork) == []
    assert len(branches(uwf, root)) == 2
    assert uwf.exec(root, until_done=True).document["status"] == "completed"
    uwf.exec(fork, until_done=True)
    uwf.exec(fork, until_done=True)
    assert uwf.show(fork)["status"] == "completed"


def test_more_items_than_allowed_fail_before_any_thread_exists(project: Project) -> None:
    project.config("limits: {branches: 3}\n")
    with project.client() as strict:
        root = strict.start("each", task(*[""] * 4))["thread"]
        outcome = strict.exec(root, until_done=True)
        assert (outcome.exit_code, outcome.document["suspendReason"]) == (1, "failure")
        message = outcome.document["suspendMessage"] or ""
        assert "has 4 items; the most is 3" in message
        assert children(strict, root) == []
    project.config("limits: {branches: 4}\n")
    with project.client() as looser:
        assert looser.exec(root, until_done=True).document["status"] == "completed"


def test_showing_many_branches_takes_time_in_proportion_to_their_number(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, read = uwf._engine.store, list[Ref]()
    payload = store.payload

    def counted(ref: Ref) -> Any:
        read.append(ref)
        return payload(ref)

    reads = []
    for count in (20, 80):
        root = uwf.start("each", task(*[""] * count))["thread"]
        uwf.exec(root)
        begin(project, root)
        read.clear()
        with monkeypatch.context() as patch:
            patch.setattr(store, "payload", counted)
            uwf.show(root)
        reads.append(len(read))
    assert reads[1] < 6 * reads[0]


def test_branches_beyond_the_depth_suspend_the_thread(project: Project) -> None:
    project.config("limits: {depth: 0}\n")
    with project.client() as shallow:
        root = shallow.start("each", task("", ""))["thread"]
        outcome = shallow.exec(root, until_done=True)
        assert (outcome.exit_code, outcome.document["suspendReason"]) == (5, "limit")
        for _ in range(2):  # nobody else plays the role of the fan-out
            again = shallow.resume(root, "Go on.")
            assert (again.exit_code, again.document["steps"]) == (5, [])
            assert again.document["suspendMessage"] == outcome.document["suspendMessage"]
        assert children(shallow, root) == []


def test_a_binding_of_a_role_reaches_its_branches_alone(project: Project) -> None:
    project.script([{"role": "worker", "output": {"$status": "done", "summary": "m"}}], repeat=True)
    outcome = project.uwf("run", "each", "-p", task("", ""), "--agent", "worker=mock")
    assert outcome.exit_code == 0, outcome.stderr
    with project.client() as uwf:
        [root] = [row["thread"] for row in uwf.list()]
        assert [step.node["agent"] for step in uwf.thread(root).steps()][::2] == ["obeying"] * 2
        threads = children(uwf, root)
        agents = [step.node["agent"] for each in threads for step in uwf.thread(each).steps()]
        assert agents == ["mock", "mock"]


def test_the_agent_of_one_command_plays_the_branches_too(project: Project, uwf: Client) -> None:
    root = uwf.start("each", task("", ""))["thread"]
    uwf.exec(root)
    project.script([{"role": "worker", "output": {"$status": "done", "summary": "m"}}], repeat=True)
    uwf.exec(root, agent="mock")
    agents = [
        step.node["agent"] for each in children(uwf, root)
        for step in uwf.thread(each).steps()
    ]  # fmt: skip
    assert agents == ["mock", "mock"]


def test_cwd_moves_the_folders_of_branches_for_that_command_only(
    project: Project, uwf: Client
) -> None:
    elsewhere = project.folder / "elsewhere"
    elsewhere.mkdir()
    root = uwf.start("each", task("", ""))["thread"]
    assert uwf.exec(root, count=2, cwd=str(elsewhere)).exit_code == 0
    first, second = branches(uwf, root)
    assert next(iter(uwf.thread(first).steps())).node["attempt"]["cwd"] == str(elsewhere)
    uwf.exec(root, until_done=True)
    assert next(iter(uwf.thread(second).steps())).node["attempt"]["cwd"] == str(project.folder)


def test_what_branches_used_counts_once_in_their_caller(uwf: Client) -> None:
    root = uwf.start("each", task("cost=1", "cost=2 fail=1", "cost=4"))["thread"]
    uwf.exec(root, until_done=True)
    assert uwf.show(root)["usage"]["costUsd"] == 0.5 + 1 + 2 + 4
    uwf.exec(root, until_done=True)
    assert uwf.show(root)["usage"]["costUsd"] == 0.5 + 1 + 2 + 2 + 4 + 0.5
    by_role = call_of(joined(uwf, root))["usageByRole"]
    assert by_role["worker"]["usage"]["costUsd"] == 9
    assert by_role["worker"]["steps"] == 3
