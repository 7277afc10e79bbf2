"""Limits of roles, calls and options: where they are set, what counts, and what a person grants."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.core.calling import children
from tests.core.engine.conftest import DONE, LOOP, REJECTED
from tests.core.engine.test_thread_state import check, granted

from uwf_core.client import Client, ThreadFilter
from uwf_core.errors import UsageError, WrongStateError
from uwf_core.testing.project import Project

USAGE = {"turns": 1, "inputTokens": 5, "outputTokens": 5, "costUsd": 1.0}
PAID = [{**DONE, "usage": USAGE}, {**REJECTED, "usage": USAGE}]

CHILD = """
name: child
roles:
  worker:
    goal: Work.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  checker:
    goal: Check.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: good}}, required: [$status]}
        - {properties: {$status: {const: bad}}, required: [$status]}
graph:
  $START: {new: {role: worker, prompt: Work.}, resume: {role: worker, prompt: More.}}
  worker: {done: {role: checker, prompt: Check.}}
  checker: {good: {role: $END, prompt: Good.}, bad: {role: worker, prompt: Again.}}
"""
PARENT = """
name: parent
roles:
  planner:
    goal: Plan.
    frontmatter: {properties: {$status: {const: planned}}, required: [$status]}
  sub: {workflow: ./child.yaml}
graph:
  $START: {new: {role: planner, prompt: Plan.}, resume: {role: planner, prompt: More.}}
  planner: {planned: {role: sub, prompt: Do it.}}
  sub: {good: {role: $END, prompt: Done.}}
"""
PLANNED = {"role": "planner", "output": {"$status": "planned"}, "usage": USAGE}
WORK = {"role": "worker", "output": {"$status": "done"}, "usage": USAGE}
BAD = {"role": "checker", "output": {"$status": "bad"}, "usage": USAGE}


@pytest.fixture
def start(project: Project, uwf: Client) -> Callable[..., str]:
    """Starts a thread of `loop` after a change of its text, with paid steps that never end."""

    def begin(old: str = "", new: str = "", **options: object) -> str:
        text = LOOP.replace("name: loop", "name: limited")
        assert old in text
        project.workflow("limited", text.replace(old, new, 1))
        project.script(PAID, repeat=True)
        return uwf.start("limited", "x", **options)["thread"]  # type: ignore[arg-type]

    return begin


def stopped(uwf: Client, thread: str) -> tuple[int, str]:
    """Run until a limit: the number of steps so far, and the message."""
    outcome = uwf.exec(thread, until_done=True)
    assert outcome.exit_code == 5, outcome.document
    check(uwf, thread)
    return len(uwf.steps(thread)) - 1, outcome.document["suspendMessage"]


@pytest.mark.parametrize(
    ("limit", "steps", "message"),
    [
        ("maxVisits: 2", 3, "maxVisits 2 of role developer is reached (2 used)"),
        ("maxSteps: 1", 2, "maxSteps 1 of role developer is reached (1 used)"),
        ("maxCostUsd: 2", 3, "maxCostUsd 2 of role developer is reached (2 used)"),
        (
            "maxTokens: 25",
            3,
            "maxTokens 25 of role developer leaves no room for a step (20 used, 10 reserved)",
        ),
    ],
)
def test_a_limit_of_a_role_counts_its_steps_alone(
    limit: str, steps: int, message: str, uwf: Client, start: Callable[..., str]
) -> None:
    thread = start("  developer:\n", f"  developer:\n    limits: {{{limit}}}\n")
    assert stopped(uwf, thread) == (steps + steps % 2, message)


def test_options_of_the_start_limit_one_thread(
    project: Project, uwf: Client, start: Callable[..., str]
) -> None:
    start()
    words = ("-p", "x", "--max-cost", "2.5", "--max-steps", "9")
    thread = project.uwf("thread", "start", "limited", *words).document["thread"]
    assert stopped(uwf, thread) == (
        2,
        "maxCostUsd 2.5 of --max-cost leaves no room for a step (2 used, 1 reserved)",
    )
    refused = project.uwf("thread", "start", "limited", "-p", "x", "--max-steps", "0")
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ({"maxCost": 0.01}, "limits -> maxCost: .*maxCostUsd"),
        ({"maxCostUSD": 1, "maxSteps": 2}, "limits -> maxCostUSD: .*maxCostUsd"),
        ({"foo": 1}, "limits -> foo: .*maxSteps"),
        ({"maxSteps": 0}, "limits -> maxSteps: maxSteps must be above 0"),
        ({"maxCostUsd": -1}, "limits -> maxCostUsd: maxCostUsd must be above 0"),
        ({"maxSteps": 1.5}, "limits -> maxSteps: maxSteps is 1.5; wanted a whole number"),
        ({"maxMinutes": float("nan")}, "limits -> maxMinutes: maxMinutes is nan"),
        (["maxSteps"], "limits: is a list; wanted a mapping"),
    ],
)
def test_a_mistyped_budget_starts_nothing(
    uwf: Client, start: Callable[..., str], limits: Any, problem: str
) -> None:
    with pytest.raises(UsageError) as raised:
        start("name: limited", "name: limited", limits=limits)
    assert re.search(problem, f"{raised.value} {raised.value.hint}")
    assert uwf.list() == []


def test_a_budget_of_null_is_unlimited(uwf: Client, start: Callable[..., str]) -> None:
    thread = start("name: limited", "name: limited", limits={"maxSteps": None, "maxCostUsd": 2})
    assert stopped(uwf, thread)[0] == 2


def test_the_smaller_of_two_limits_holds(uwf: Client, start: Callable[..., str]) -> None:
    thread = start("name: limited", "name: limited\nlimits: {maxSteps: 2}", limits={"maxSteps": 3})
    assert stopped(uwf, thread) == (2, "maxSteps 2 of workflow limited is reached (2 used)")


def test_a_role_says_how_much_room_it_needs(uwf: Client, start: Callable[..., str]) -> None:
    roles = "  developer:\n    reserve: {costUsd: 3}\n"
    thread = start("  developer:\n", roles, limits={"maxCostUsd": 4.5})
    assert stopped(uwf, thread) == (
        2,
        "maxCostUsd 4.5 of --max-cost leaves no room for a step (2 used, 3 reserved)",
    )


def test_a_person_grants_as_much_as_wanted(
    project: Project, uwf: Client, start: Callable[..., str]
) -> None:
    thread = start("name: limited", "name: limited\nlimits: {maxSteps: 1, maxCostUsd: 100}")
    assert stopped(uwf, thread)[0] == 1
    for wrong, word in {"steps=0": "amount", "step=1": "amount", "visits=1": "maxVisits"}.items():
        with pytest.raises(UsageError, match=word):
            uwf.resume(thread, grants=[wrong])
    with pytest.raises(UsageError, match="leaves no room"):
        uwf.resume(thread, "text", grants=["cost=1"])
    check(uwf, thread)
    assert granted(uwf, thread) == {}
    words = ("--grant", "steps=3", "--grant", "cost=1", "--until-done")
    assert project.uwf("thread", "resume", thread, *words).exit_code == 5
    check(uwf, thread)
    assert granted(uwf, thread) == {"maxSteps": 3, "maxCostUsd": 1}
    assert len(uwf.steps(thread)) - 1 == 4
    uwf.resume(thread)
    check(uwf, thread)
    assert granted(uwf, thread)["maxSteps"] == 4, "the same allowance once more"
    free = start()
    uwf.exec(free, agent="human")
    with pytest.raises(WrongStateError, match="nothing to grant"):
        uwf.resume(free, grants=["steps=1"])


def test_a_grant_for_another_limit_opens_no_room(uwf: Client, start: Callable[..., str]) -> None:
    thread = start("  developer:\n", "  developer:\n    limits: {maxTokens: 25, maxVisits: 9}\n")
    steps, message = stopped(uwf, thread)
    assert "leaves no room for a step (20 used, 10 reserved)" in message
    with pytest.raises(UsageError, match="leaves no room"):
        uwf.resume(thread, grants=["visits=1"])
    assert (check(uwf, thread)["steps"], granted(uwf, thread)) == (steps, {})
    assert uwf.resume(thread, grants=["tokens=1"]).exit_code == 0, "the limit itself: as is wanted"


@pytest.mark.parametrize("words", ["--max-cost nan", "--max-cost inf", f"--max-tokens {2**53}"])
def test_an_amount_that_cannot_be_stored_is_an_error_of_its_option(
    words: str, project: Project, start: Callable[..., str]
) -> None:
    start()
    option, amount = words.split()
    refused = project.uwf("thread", "start", "limited", "-p", "x", option, amount)
    assert refused.exit_code == 2
    assert option in refused.error["message"]
    assert amount in refused.error["message"]


def called(project: Project, uwf: Client, parent: str, **options: object) -> str:
    project.workflow("child", CHILD)
    project.workflow("parent", parent)
    project.script([PLANNED, WORK, BAD], by_role=True)
    return uwf.start("parent", "x", **options)["thread"]  # type: ignore[arg-type]


def child_of(uwf: Client, thread: str) -> str:
    (child,) = (
        each["thread"]
        for each in uwf.list(ThreadFilter(all=True, children=True))
        if each["thread"] != thread
    )
    return child


@pytest.mark.parametrize(
    ("old", "new", "options", "leaves", "origin"),
    [
        ("name: parent", "name: parent\nlimits: {maxSteps: 4}", {}, 3, "workflow parent"),
        ("./child.yaml}", "./child.yaml, limits: {maxSteps: 3}}", {}, 3, "role sub"),
        ("Do it.", "Do it., limits: {maxSteps: 3}", {}, 3, "the call of sub"),
        ("", "", {"limits": {"maxCostUsd": 4}}, 3, "--max-cost"),
    ],
)
def test_a_limit_above_a_call_covers_what_is_called(
    project: Project,
    uwf: Client,
    old: str,
    new: str,
    options: dict[str, object],
    leaves: int,
    origin: str,
) -> None:
    thread = called(project, uwf, PARENT.replace(old, new, 1), **options)
    outcome = uwf.exec(thread, until_done=True)
    assert outcome.exit_code == 5
    child = child_of(uwf, thread)
    assert len(uwf.steps(child)) - 1 == leaves
    assert origin in uwf.show(child)["suspendMessage"]
    assert uwf.exec(thread).exit_code == 5
    word = "cost" if "cost" in origin else "steps"
    assert uwf.resume(thread, grants=[f"{word}=2"], until_done=True).exit_code == 5
    assert len(uwf.steps(child)) - 1 == leaves + 2
    for each in (thread, child):
        check(uwf, each)


def test_the_ledger_of_a_thread_is_the_sum_of_all_attempts_below_it(
    project: Project, uwf: Client
) -> None:
    thread = called(project, uwf, PARENT)
    for _ in range(4):
        uwf.exec(thread)
        total = uwf.usage(thread)["total"]
        assert uwf.show(thread)["usage"] == total["usage"]
        threads = [uwf.thread(each) for each in (thread, *children(uwf, thread))]
        steps = [step for each in threads for step in each.steps() if step.child is None]
        assert len(steps) == total["steps"]
        assert sum(step.duration_ms for step in steps) == total["durationMs"]
    assert total["usage"]["costUsd"] == 4


def test_a_question_to_a_past_step_counts(project: Project, uwf: Client) -> None:
    thread = called(project, uwf, PARENT, limits={"maxTokens": 19})
    uwf.exec(thread)
    step = uwf.steps(thread)[-1]["step"]
    uwf.ask(step, "Why?", agent="mock")
    by_role = uwf.usage(thread)
    assert (by_role["total"]["asks"], by_role["total"]["steps"]) == (1, 1)
    assert uwf.show(thread)["usage"] == by_role["total"]["usage"]
    assert project.uwf("cas", "verify").exit_code == 0


def test_a_workflow_says_how_many_agent_calls_it_makes_at_most(
    project: Project, uwf: Client
) -> None:
    thread = called(
        project, uwf, PARENT.replace("child.yaml}", "child.yaml, limits: {maxSteps: 7}}")
    )
    files = [f".workflow/{name}.yaml" for name in ("child", "parent")]
    checked = project.uwf("workflow", "check", "--bound", *files).document
    cycle = ["checker", "worker"]
    factor = {"maxAttempts": 5, "origin": "default", "agents": 1}
    own = [{"role": name, **factor} for name in ("worker", "checker")]
    below = [{"role": name, **factor} for name in ("planner", "sub/worker", "sub/checker")]
    endless = {"agentCalls": None, "steps": None, "cycle": cycle, "openList": None}
    endless |= {"attempts": None, "factors": own}
    eight = {"agentCalls": 8, "steps": 8, "cycle": [], "openList": None}
    eight |= {"attempts": 40, "factors": below}
    assert {row["name"]: row["bound"] for row in checked["bounds"]} == {
        "child": endless,
        "parent": eight,
    }
    text = project.uwf("workflow", "check", "--bound", *files, "--format", "text").stdout
    of_child = "child: unbounded: checker -> worker\n  attempts: no bound: worker, checker x 5 "
    assert f"{of_child}(usual of workers and tick)\nparent: at most 8 agent calls\n" in text
    published = uwf.show(thread)["workflow"]
    assert project.uwf("workflow", "show", published).document["bound"] == eight
    shown = project.uwf("workflow", "show", published, "--format", "text").stdout
    assert "\nbound: at most 8 agent calls\n" in shown
    assert "at most 40: planner, sub/worker, sub/checker x 5 (usual of workers and tick)" in shown
    assert uwf.exec(thread, until_done=True).exit_code == 5
    assert len(uwf.steps(child_of(uwf, thread))) - 1 == 7


RETRIED = """\
version: 1
name: retried
roles:
  planner:
    goal: Plan.
    retry: {maxAttempts: 2, interval: 0.001}
    frontmatter: {properties: {$status: {const: planned}}, required: [$status]}
  writer:
    goal: Write.
    frontmatter: {properties: {$status: {const: written}}, required: [$status]}
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Again.}
  planner: {planned: {role: writer, prompt: Write.}}
  writer: {written: {role: $END, prompt: Done.}}
"""


DOWN = {"fail": {"kind": "unavailable", "message": "down"}}


def test_a_run_without_a_person_takes_as_many_attempts_as_the_bound(project: Project) -> None:
    """Each agent fails as often as it may before it delivers."""
    project.workflow("retried", RETRIED)
    project.config("retry: {maxAttempts: 3, interval: 0.001}\n")
    [row] = project.uwf("workflow", "check", "retried", "--bound").document["bounds"]
    planner = {"role": "planner", "maxAttempts": 2, "origin": "role", "agents": 1}
    writer = {"role": "writer", "maxAttempts": 3, "origin": "config", "agents": 1}
    assert (row["bound"]["agentCalls"], row["bound"]["attempts"]) == (2, 5)
    assert row["bound"]["factors"] == [planner, writer]
    project.script(
        [
            {"role": "planner", "outputs": [DOWN, {"$status": "planned"}]},
            {"role": "writer", "outputs": [DOWN, DOWN, {"$status": "written"}]},
        ],
        by_role=True,
    )
    ran = project.uwf("run", "retried", "-p", "Write.").document
    assert ran["status"] == "completed", ran["suspendMessage"]
    assert len(ran["steps"]) == row["bound"]["attempts"]


def test_each_agent_of_any_of_takes_the_attempts_of_the_bound(project: Project) -> None:
    project.workflow("retried", RETRIED)
    project.config("agents: {one: {use: mock}, two: {use: mock}, both: {anyOf: [one, two]}}\n")
    [row] = project.uwf("workflow", "check", "retried", "--bound").document["bounds"]
    planner, writer = row["bound"]["factors"]
    assert (planner["maxAttempts"], planner["agents"]) == (2, 2)
    assert (writer["maxAttempts"], writer["agents"], writer["origin"]) == (5, 2, "default")
    assert row["bound"]["attempts"] == 2 * 2 + 5 * 2
    project.script([{"role": "planner", **DOWN}])
    ran = project.uwf("run", "retried", "-p", "Write.", "--agent", "both").document
    assert ran["status"] == "suspended"
    assert len(ran["steps"]) == 2 * 2


def test_usage_is_grouped_and_filtered(
    project: Project, uwf: Client, start: Callable[..., str]
) -> None:
    thread = start(limits={"maxSteps": 3})
    uwf.exec(thread, until_done=True)
    shown = project.uwf("usage", thread).document
    assert {row["name"]: row["steps"] for row in shown["rows"]} == {"developer": 2, "reviewer": 1}
    assert shown["total"]["usage"]["costUsd"] == 3
    for by, name in {"agent": "mock", "workflow": "limited"}.items():
        rows = project.uwf("usage", "--by", by, "--since", "1d").document["rows"]
        assert [row["name"] for row in rows] == [name]
    assert project.uwf("usage", "--since", "2999-01-01").document["threads"] == 0
    text = project.uwf("usage", "--format", "text").stdout
    assert "developer" in text
    assert "$3.0000" in text


def test_a_run_that_waits_for_a_service_can_be_stopped(
    project: Project, uwf: Client, start: Callable[..., str]
) -> None:
    thread = start()
    late = {"kind": "rate_limited", "message": "no", "untilMs": int(time.time() * 1000) + 600_000}
    project.script([{"role": "developer", "outputs": [{"fail": late}, DONE["output"]]}])
    words = ("thread", "exec", thread, "--wait-limits", "1h", "--background")
    assert project.uwf(*words).exit_code == 0
    while not uwf.thread(thread).pending:
        time.sleep(0.2)
    assert uwf.show(thread)["status"] == "running"
    assert project.uwf("thread", "stop", thread).exit_code == 0
    shown = project.uwf("thread", "show", thread).document
    assert (shown["status"], shown["running"]) == ("suspended", None)


def test_a_run_waits_until_a_service_accepts_calls_again(
    project: Project, uwf: Client, start: Callable[..., str]
) -> None:
    thread = start()
    soon = int(time.time() * 1000) + 1500
    fail = {"fail": {"kind": "rate_limited", "message": "slow down", "untilMs": soon}}
    project.script([{"role": "developer", "outputs": [fail, DONE["output"]]}])
    refused = project.uwf("thread", "exec", thread)
    assert refused.exit_code == 6, "nobody asked to wait"
    for seconds in (2, 8, 32):  # a busy machine may start a run after the time
        thread = start()
        soon = int(time.time() * 1000) + seconds * 1000
        fail = {"fail": {"kind": "rate_limited", "message": "slow down", "untilMs": soon}}
        project.script([{"role": "developer", "outputs": [fail, DONE["output"]]}])
        done = project.uwf("thread", "exec", thread, "--wait-limits", "60s")
        assert (done.exit_code, len(done.document["steps"])) == (0, 2)
        assert time.time() * 1000 >= soon
        if "waiting" in done.stderr:
            break
    assert "waiting" in done.stderr
    late = {**fail, "fail": {**fail["fail"], "untilMs": soon + 10**6}}
    project.script([DONE, {"role": "reviewer", "outputs": [late]}])
    assert project.uwf("thread", "exec", thread, "--wait-limits", "30s").exit_code == 6
