"""Failed attempts that are made again by themselves: the policy, the waits and their record."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.core.engine.conftest import APPROVED, LOOP

from uwf_core.client import Client
from uwf_core.errors import BusyError, CorruptNodeError, DefinitionError
from uwf_core.testing.project import Project
from uwf_core.thread.decisions import Event, Wait
from uwf_core.thread.fold import fold
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.retry import checked_failures

FAILED = {"fail": {"kind": "crashed", "message": "as scripted"}}
REFUSED = {"fail": {"kind": "auth", "message": "as scripted"}}
DONE = {"$status": "done"}
RETRY = "    retry: {maxAttempts: 3, interval: 0.2, backoff: 2, maxInterval: 2s}\n"


BRANCHES = """
    done:
      parallel:
        a: {role: reviewer, prompt: Look.}
        b: {role: reviewer, prompt: Look.}
      shared: true
      then:
        approved: {role: $END, prompt: Done.}
        rejected: {role: $END, prompt: Done.}
        unsure: {role: $END, prompt: Done.}
        $mixed: {role: $END, prompt: Done.}
"""


def with_retry(text: str = RETRY, name: str = "loop") -> str:
    return LOOP.replace("    goal: Write it.\n", f"    goal: Write it.\n{text}").replace(
        "name: loop", f"name: {name}"
    )


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    project.workflow("loop", with_retry())
    with project.client() as client:
        yield client


@pytest.fixture
def thread(uwf: Client) -> str:
    return uwf.start("loop", "The task.")["thread"]


def developer(*outputs: object) -> dict[str, object]:
    return {"role": "developer", "outputs": list(outputs)}


def test_a_run_to_the_end_makes_failed_attempts_again(project: Project, uwf: Client, thread: str):
    project.script([developer(FAILED, FAILED, DONE), APPROVED])
    outcome = uwf.exec(thread, until_done=True)
    assert outcome.document["status"] == "completed"
    assert [bool(each["failure"]) for each in outcome.document["steps"]] == [
        True,
        True,
        False,
        False,
    ]
    assert len(uwf.step(uwf.steps(thread)[1]["step"])["previousAttempts"]) == 2


def test_the_pause_grows_and_varies_by_a_fifth(project: Project, uwf: Client, thread: str):
    project.script([developer(FAILED, FAILED, DONE)])
    for usual in (0.2, 0.4):
        [result] = uwf.exec(thread).document["steps"]
        shown = uwf.show(thread)
        assert (shown["status"], shown["waitingFor"]) == ("idle", "retry")
        failed = uwf.step(str(result["step"]))
        pause = (shown["waitingUntil"] - failed["completedAtMs"]) / 1000
        assert usual * 0.8 - 0.01 <= pause <= usual * 1.2 + 0.01
        time.sleep(pause + 0.05)
    assert uwf.exec(thread).exit_code == 0


def test_a_single_step_fails_with_6_and_one_before_its_time_with_75(project: Project, uwf: Client):
    project.workflow(
        "slow",
        with_retry(RETRY.replace("0.2", "1h").replace("2s", "2h")).replace(
            "name: loop", "name: slow"
        ),
    )
    project.script([developer(FAILED, DONE)])
    thread = uwf.start("slow", "The task.")["thread"]
    outcome = uwf.exec(thread)
    assert (outcome.exit_code, outcome.document["waitingFor"]) == (6, "retry")
    with pytest.raises(BusyError, match=r"developer failed .crashed.; attempt 2 follows") as early:
        uwf.exec(thread)
    assert early.value.exit_code == 75
    assert "--now" in (early.value.hint or "")
    assert uwf.show(thread)["next"] == [f"uwf thread exec {thread} --now"]
    assert uwf.exec(thread, now=True).exit_code == 0
    assert uwf.show(thread)["waitingFor"] is None


def test_after_the_last_attempt_it_waits_for_a_person_who_gets_all_attempts_anew(
    project: Project, uwf: Client, thread: str
):
    project.script([developer(*[FAILED] * 5, DONE), APPROVED])
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.exit_code, len(outcome.document["steps"])) == (6, 3)
    assert uwf.show(thread)["suspendReason"] == "failure"
    assert [each["thread"] for each in uwf.inbox()] == [thread]
    outcome = uwf.resume(thread, "Try again.", until_done=True)
    assert outcome.document["status"] == "completed"
    assert len(outcome.document["steps"]) == 4


def test_only_the_kinds_of_the_policy_are_tried_again(project: Project, uwf: Client):
    project.script([developer(REFUSED, DONE)])
    thread = uwf.start("loop", "The task.")["thread"]
    assert uwf.exec(thread, until_done=True).exit_code == 6
    assert uwf.show(thread)["suspendReason"] == "failure"
    project.workflow(
        "narrow",
        with_retry(RETRY.replace("3,", "3, on: [timeout],"), "narrow"),
    )
    project.script([developer(FAILED, DONE)])
    thread = uwf.start("narrow", "The task.")["thread"]
    assert uwf.exec(thread, until_done=True).exit_code == 6


def test_the_end_of_a_limit_comes_before_the_pause(project: Project, uwf: Client, thread: str):
    until = int(time.time()) * 1000 + 3_600_000
    limited = {"fail": {"kind": "rate_limited", "message": "slow down", "untilMs": until}}
    project.script([developer(limited, DONE)])
    uwf.exec(thread)
    shown = uwf.show(thread)
    assert (shown["waitingFor"], shown["waitingUntil"]) == ("limit", until)
    assert uwf.inbox() == []


def test_the_configuration_has_a_policy_for_roles_without_one(project: Project):
    project.workflow("plain", LOOP.replace("name: loop", "name: plain"))
    project.config("retry: {maxAttempts: 2, interval: 0.1}\n")
    project.script([developer(FAILED, DONE), APPROVED])
    with project.client() as uwf:
        thread = uwf.start("plain", "The task.")["thread"]
        assert uwf.exec(thread, until_done=True).document["status"] == "completed"


@pytest.mark.parametrize(
    "forged",
    [
        {"next": {"notBefore": 1}},
        {"next": {"status": "suspended", "reason": "failure", "notBefore": None}},
        {"policy": {"failures": 2}},
        {"policy": {"maxAttempts": 1}},
        {"policy": {"on": []}},
    ],
)
def test_a_decision_that_the_policy_does_not_make_is_damage(
    uwf: Client, project: Project, thread: str, forged: dict[str, Any]
):
    project.script([developer(FAILED, DONE)])
    [result] = uwf.exec(thread).document["steps"]
    payload = uwf.node(str(result["step"]))["payload"]
    failure = {
        **payload["failure"],
        "policy": {**payload["failure"]["policy"], **forged.get("policy", {})},
    }
    step = {**payload, "failure": failure, "next": {**payload["next"], **forged.get("next", {})}}
    assert checked_failures(0, Event("step", "REF", payload)) == 1
    with pytest.raises(CorruptNodeError, match="does not follow from its policy"):
        checked_failures(0, Event("step", "REF", step))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("    retry: {maxAttempts: 0}\n", "at least 1"),
        ("    retry: {maxAttempts: 3, on: [auth]}\n", "must be one of"),
        ("    retry: {interval: 3}\n", "maxAttempts"),
        ("    retry: {maxAttempts: 3, interval: soon}\n", "a duration such as"),
    ],
)
def test_check_names_what_is_wrong_in_a_policy(project: Project, uwf: Client, text: str, said: str):
    project.workflow("wrong", with_retry(text))
    with pytest.raises(DefinitionError) as caught:
        uwf.start("wrong", "The task.")
    assert said in str(caught.value.document())


def test_a_caller_waits_for_an_attempt_below(project: Project, uwf: Client):
    project.workflow(
        "caller",
        """
name: caller
version: 1
roles: {part: {workflow: loop}}
graph:
  $START:
    new: {role: part, prompt: Do it.}
    resume: {role: part, prompt: Again.}
  part:
    approved: {role: $END, prompt: Done.}
""",
    )
    project.script([developer(FAILED, DONE), APPROVED])
    thread = uwf.start("caller", "The task.")["thread"]
    outcome = uwf.exec(thread)
    assert (outcome.exit_code, outcome.document["waitingFor"]) == (6, "retry")
    assert uwf.show(thread)["waitingFor"] == "retry"
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"


def test_branches_wait_beside_each_other(project: Project, uwf: Client):
    fan = with_retry(name="fan")
    fan = fan.replace("    goal: Review it.\n", f"    goal: Review it.\n{RETRY}")
    begin = fan.index("    done: {role: reviewer")
    project.workflow("fan", fan[:begin] + BRANCHES)
    failing = {"role": "reviewer", "outputs": [FAILED, FAILED, {"$status": "approved"}]}
    project.script([developer(DONE)])
    thread = uwf.start("fan", "The task.")["thread"]
    uwf.exec(thread)
    project.script([failing])
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"


def timed(after: str) -> str:
    return LOOP.replace("prompt: Review it.,", f"prompt: Review it., after: {after},")


def test_a_role_waits_for_the_time_of_its_edge(project: Project, uwf: Client):
    project.workflow("loop", timed("1h"))
    project.script([developer(DONE), APPROVED])
    thread = uwf.start("loop", "The task.")["thread"]
    outcome = uwf.exec(thread)
    assert (outcome.exit_code, outcome.document["waitingFor"]) == (0, "timer")
    step = uwf.step(str(outcome.document["steps"][0]["step"]))
    assert outcome.document["waitingUntil"] == step["completedAtMs"] + 3_600_000
    with pytest.raises(BusyError, match="reviewer runs then"):
        uwf.exec(thread)
    assert uwf.exec(thread, now=True).document["status"] == "completed"
    assert uwf.replay(thread)["verdict"] == "same"


def test_a_run_waits_for_the_time_of_an_edge(project: Project, uwf: Client):
    project.workflow("loop", timed("0.3"))
    project.script([developer(DONE), APPROVED])
    thread = uwf.start("loop", "The task.")["thread"]
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    first, second = (uwf.step(each["step"]) for each in uwf.steps(thread)[1:])
    assert second["startedAtMs"] >= first["completedAtMs"] + 300


@pytest.mark.parametrize(
    "edge", ["approved: {role: $END, prompt: Done.", "new: {role: developer, prompt: Write it."]
)
def test_after_belongs_between_roles(project: Project, uwf: Client, edge: str):
    project.workflow("loop", LOOP.replace(edge, f"{edge}, after: 1m"))
    with pytest.raises(DefinitionError) as caught:
        uwf.start("loop", "The task.")
    assert "after has no effect" in str(caught.value.document())


def test_each_row_of_a_list_has_its_own_time(project: Project, uwf: Client):
    threads = [uwf.start("loop", "The task.")["thread"] for _ in range(3)]
    for at, thread in enumerate(threads):
        until = int(time.time()) * 1000 + (at + 1) * 3_600_000
        limited = {"fail": {"kind": "rate_limited", "message": "slow down", "untilMs": until}}
        project.script([developer(limited, DONE)])
        uwf.exec(thread)
    shown = {each: uwf.show(each)["waitingUntil"] for each in threads}
    assert {row["thread"]: row["waitingUntil"] for row in uwf.list()} == shown
    assert len(set(shown.values())) == 3


CALLER = """
name: caller
version: 1
roles:
  planner:
    goal: Plan it.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  part: {workflow: loop}
graph:
  $START:
    new: {role: planner, prompt: Plan it.}
    resume: {role: planner, prompt: Again.}
  planner:
    done: {role: part, prompt: Do it., after: 1h}
  part:
    approved: {role: $END, prompt: Done.}
"""
PLANNED = {"role": "planner", "output": DONE}


def test_a_call_that_has_begun_waits_for_its_own_thread_alone(project: Project, uwf: Client):
    project.workflow("caller", CALLER)
    project.script([PLANNED, developer(DONE), APPROVED], by_role=True)
    thread = uwf.start("caller", "The task.")["thread"]
    assert uwf.exec(thread).document["waitingFor"] == "timer"
    assert uwf.exec(thread, now=True).document["waitingFor"] is None
    assert uwf.exec(thread).document["status"] == "completed"


def test_now_is_for_one_step(project: Project, uwf: Client):
    project.workflow("loop", with_retry(RETRY.replace("0.2", "0.5")))
    project.script([developer(FAILED, FAILED, DONE), APPROVED])
    thread = uwf.start("loop", "The task.")["thread"]
    uwf.exec(thread)
    outcome = uwf.exec(thread, until_done=True, now=True)
    second = uwf.step(outcome.document["steps"][0]["step"])
    third = uwf.step(outcome.document["steps"][1]["step"])
    assert third["startedAtMs"] >= second["completedAtMs"] + 700


def test_a_called_thread_that_runs_by_itself_waits(project: Project, uwf: Client):
    project.workflow("caller", CALLER.replace(", after: 1h", ""))
    project.script([PLANNED, developer(FAILED, DONE), APPROVED], by_role=True)
    thread = uwf.start("caller", "The task.")["thread"]
    for _step in range(2):
        uwf.exec(thread)
    [child] = uwf.show(thread)["children"]
    outcome = uwf.exec(child["thread"], until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed")


def fan_out(project: Project, retry: str = RETRY) -> None:
    fan = with_retry(name="fan")
    fan = fan.replace("    goal: Review it.\n", f"    goal: Review it.\n{retry}")
    begin = fan.index("    done: {role: reviewer")
    project.workflow("fan", fan[:begin] + BRANCHES)


def test_steps_of_branches_are_counted_without_failed_attempts(project: Project, uwf: Client):
    fan_out(project)
    project.script([developer(DONE)])
    thread = uwf.start("fan", "The task.")["thread"]
    uwf.exec(thread)
    project.script([{"role": "reviewer", "outputs": [FAILED, {"$status": "approved"}]}])
    assert project.uwf("thread", "exec", thread, "-c", "2").document["status"] == "completed"


def test_a_run_that_has_its_steps_waits_for_no_branch(project: Project, uwf: Client):
    fan_out(project, RETRY.replace("0.2", "1h").replace("2s", "2h"))
    file = project.folder / ".workflow" / "fan.yaml"
    branch = "        b: {role: reviewer, prompt: Look.}\n"
    file.write_text(file.read_text().replace(branch, branch + branch.replace("b:", "c:")))
    project.config("limits: {parallel: 1}\n")
    project.script([developer(DONE)])
    thread = uwf.start("fan", "The task.")["thread"]
    uwf.exec(thread)
    project.script([{"role": "reviewer", **FAILED}])
    assert project.uwf("thread", "exec", thread).exit_code == 6
    project.script([{"role": "reviewer", "output": {"$status": "approved"}}])
    outcome = project.uwf("thread", "exec", thread, "-c", "2", seconds=30)
    assert (outcome.exit_code, len(outcome.document["steps"])) == (6, 2), outcome.stderr


def test_an_attempt_that_was_killed_waits_for_nothing(uwf: Client, thread: str):
    attempt = {"number": 1, "attempt": {"number": 2}, "role": "developer", "reserved": None}
    state = uwf.thread(thread).state._replace(wait=Wait(1, "crashed", 1))
    payload = {"thread": thread, "seq": state.seq, **attempt}
    shown = effective(fold(state, Event("attempt", "REF", payload)), is_running=False)
    assert (shown.status, shown.wait) == ("suspended", None)


def test_branches_that_wait_since_an_earlier_command_are_waited_for(project: Project, uwf: Client):
    fan_out(project, RETRY.replace("0.2", "3").replace("2s", "4s"))
    project.script([developer(DONE)])
    thread = uwf.start("fan", "The task.")["thread"]
    uwf.exec(thread)
    project.script([{"role": "reviewer", "outputs": [FAILED, {"$status": "approved"}]}])
    assert project.uwf("thread", "exec", thread).exit_code == 6
    assert project.uwf("thread", "exec", thread, "--until-done").exit_code == 0
