"""`uwf tick`: unattended threads continue without a daemon, and nobody else's."""

import json
import os
import signal
import time
from collections.abc import Callable

import pytest
from tests.core.engine.conftest import APPROVED
from tests.core.engine.test_retries import (
    DONE,
    FAILED,
    RETRY,
    developer,
    fan_out,
    timed,
    with_retry,
)

from uwf_core.client import Client
from uwf_core.errors import WrongStateError
from uwf_core.testing.project import Project
from uwf_core.thread.due import DUE
from uwf_core.thread.head import read_head
from uwf_core.thread.names import UNATTENDED


def until(holds: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)


def completed(uwf: Client, thread: str) -> Callable[[], bool]:
    return lambda: uwf.show(thread)["status"] == "completed"


def is_unattended(uwf: Client, thread: str) -> bool:
    return UNATTENDED in uwf.thread(thread).variable.tags


def waiting_for_a_minute(project: Project, uwf: Client, count: int = 1) -> list[str]:
    """Threads whose run in the background has ended, since the next role waits for a minute."""
    project.workflow("loop", timed("61s"))
    project.script([developer(DONE), APPROVED])
    threads = [uwf.start("loop", "The task.")["thread"] for _ in range(count)]
    for each in threads:
        uwf.exec(each, until_done=True, background=True)
    until(lambda: not any(uwf.show(each)["running"] for each in threads))
    return threads


def test_a_run_in_the_background_that_waits_long_ends_and_tick_continues_it(
    project: Project, uwf: Client
):
    project.workflow("loop", timed("61s"))
    project.script([developer(DONE), APPROVED])
    thread = uwf.run("loop", "The task.", background=True).document["thread"]
    until(lambda: uwf.show(thread)["waitingFor"] == "timer" and not uwf.show(thread)["running"])
    found = uwf.tick()
    assert (found["started"], found["nextAtMs"]) == ([], uwf.show(thread)["waitingUntil"])
    assert is_unattended(uwf, thread)


def test_tick_continues_a_run_that_was_killed(project: Project, uwf: Client, thread: str):
    project.script(
        [{"role": "developer", "output": {"$status": "done"}, "delayMs": 60_000}, APPROVED]
    )
    uwf.exec(thread, until_done=True, background=True)
    running = uwf.show(thread)["running"]
    assert running is not None
    assert (uwf.tick()["running"], uwf.tick()["started"]) == ([thread], [])
    os.kill(running["pid"], signal.SIGKILL)
    until(lambda: not uwf.show(thread)["running"])
    project.script([developer(DONE), APPROVED])
    until(lambda: uwf.tick()["started"] == [thread])
    until(completed(uwf, thread))
    assert not is_unattended(uwf, thread)


def test_tick_waits_for_the_time_of_an_attempt(project: Project, uwf: Client):
    project.workflow("loop", with_retry(RETRY.replace("0.2", "99s").replace("2s", "99s")))
    project.script([developer(FAILED, DONE), APPROVED])
    thread = uwf.start("loop", "The task.")["thread"]
    uwf.exec(thread, until_done=True, background=True)
    until(lambda: not uwf.show(thread)["running"])
    assert uwf.show(thread)["waitingFor"] == "retry"
    assert uwf.tick()["started"] == []


def test_tick_leaves_alone_what_a_person_runs_step_by_step(
    project: Project, uwf: Client, thread: str
):
    project.script([developer(DONE), APPROVED])
    uwf.exec(thread)
    assert uwf.tick() == {
        "fired": [], "started": [], "running": [], "due": [], "problems": [], "nextAtMs": None,
    }  # fmt: skip


def test_a_stop_and_a_single_step_end_what_tick_continues(project: Project, uwf: Client):
    first, second = waiting_for_a_minute(project, uwf, 2)
    assert is_unattended(uwf, first) and is_unattended(uwf, second)
    uwf.stop(first)
    assert not is_unattended(uwf, first)
    with pytest.raises(WrongStateError, match="not running"):
        uwf.stop(first)
    uwf.exec(second, now=True)
    assert not is_unattended(uwf, second)


def test_no_more_runs_are_alive_than_the_configuration_allows(project: Project):
    project.workflow("loop", timed("0.4"))
    project.config("limits: {runs: 1}\n")
    project.script([developer(DONE), APPROVED])
    with project.client() as uwf:
        threads = [uwf.start("loop", "The task.")["thread"] for _ in range(2)]
        for each in threads:
            uwf.exec(each, until_done=True, background=True)
            running = uwf.show(each)["running"]
            if running is not None:
                os.kill(running["pid"], signal.SIGKILL)
        until(lambda: not any(uwf.show(each)["running"] for each in threads))
        left = [each for each in threads if not completed(uwf, each)()]
        found = uwf.tick()
        assert len(found["started"]) == min(1, len(left))
        assert len(found["started"]) + len(found["due"]) == len(left)
        until(lambda: uwf.tick() and all(completed(uwf, each)() for each in threads))


@pytest.mark.parametrize("scheduler", ["cron", "systemd", "launchd"])
def test_the_lines_for_a_scheduler_name_the_environment(project: Project, scheduler: str):
    outcome = project.uwf("tick", "--print", scheduler, "--format", "text")
    assert outcome.exit_code == 0, outcome.stderr
    assert "UWF_HOME" in outcome.stdout and "PATH" in outcome.stdout
    assert "uwf_core" in outcome.stdout and "tick" in outcome.stdout


def test_the_line_for_cron_works_as_cron_runs_it(project: Project, uwf: Client):
    """In a bare environment, from another folder."""
    [thread] = waiting_for_a_minute(project, uwf)
    assert uwf.show(thread)["waitingFor"] == "timer"
    printed = project.uwf("tick", "--print", "cron", "--format", "text").stdout
    command = printed.strip().splitlines()[-1].split(" ", 5)[5].replace("\\%", "%")
    bare = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    words = ["/bin/sh", "-c", command.removesuffix(" >/dev/null")]
    outcome = project.run_command(words, "/", bare, "", 60)
    assert outcome.exit_code == 0, outcome.stderr
    assert json.loads(outcome.stdout)["nextAtMs"] == uwf.show(thread)["waitingUntil"]


def test_a_damaged_thread_holds_up_no_other(project: Project, uwf: Client):
    first, second = waiting_for_a_minute(project, uwf, 2)
    store = uwf._engine.store
    head = store.variable(f"@uwf/thread/{first}")
    assert head is not None
    tags = {key: tag for key, tag in head.tags.items() if key != "cwd"}
    store.set_variable(head.name, head.value, tags, head)
    now_ms = uwf._engine.now_ms()
    uwf._engine.now_ms = lambda: now_ms + 62_000  # type: ignore[method-assign]
    found = uwf.tick(accept_clock=True)
    assert [each["thread"] for each in found["problems"]] == [first]
    assert found["started"] == [second]
    uwf.stop(second)


def test_tick_does_not_continue_a_run_that_ended_at_its_most_steps(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("uwf_core.engine.run.UNTIL_DONE_STEPS", 1)
    project.script([developer(DONE), APPROVED])
    thread = uwf.start("loop", "The task.")["thread"]
    assert uwf.exec(thread, until_done=True).exit_code == 5
    assert not is_unattended(uwf, thread)


def test_tick_continues_a_run_in_the_background_that_ended_at_its_most_steps(
    project: Project, uwf: Client
):
    project.workflow("loop", with_retry("    limits: {maxUnchanged: 0}\n"))
    thread = uwf.start("loop", "The task.")["thread"]
    steps = [{"role": "reviewer", "output": {"$status": "rejected", "comments": f"{n}"}}
             for n in range(51)]  # fmt: skip
    project.script([developer(DONE), *steps, APPROVED], by_role=True)
    uwf.exec(thread, until_done=True, background=True)
    until(lambda: not uwf.show(thread)["running"], 60)
    assert (uwf.show(thread)["status"], uwf.show(thread)["steps"]) == ("idle", 100)
    assert project.uwf("tick").document["started"] == [thread]
    until(completed(uwf, thread))


def test_a_pass_reads_only_the_threads_that_are_due(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
):
    """However many wait, or are run step by step."""
    waiting = waiting_for_a_minute(project, uwf, 3)
    project.script([developer(DONE)])
    for _ in range(3):
        uwf.exec(uwf.start("loop", "The task.")["thread"])
    read = list[str]()

    def counted(store: object, thread: str) -> object:
        read.append(thread)
        return read_head(store, thread)  # type: ignore[arg-type]

    monkeypatch.setattr("uwf_core.threads.tick.read_head", counted)
    found = uwf.tick()
    times = [uwf.show(each)["waitingUntil"] for each in waiting]
    assert (found["started"], found["nextAtMs"], read) == ([], min(times), [])


def test_the_index_of_what_is_due_follows_each_move_of_a_thread(project: Project, uwf: Client):
    def due() -> list[str]:
        return [each.name.split("/")[-1] for each in uwf._engine.store.variables(DUE)]

    [thread] = waiting_for_a_minute(project, uwf)
    assert due() == [thread]
    uwf.stop(thread)
    assert due() == []
    uwf.exec(thread, until_done=True, now=True)
    assert uwf.show(thread)["status"] == "completed" and due() == []


def test_doctor_checks_what_tick_finds_in_the_environment_of_its_lines(project: Project):
    """The key of a model is in the terminal, and not there; a variable of uwf is."""
    project.config(
        "providers: {own: {baseUrl: 'http://127.0.0.1:9/v1', apiKeyEnv: OWN_KEY}}\n"
        "models: {own: {provider: own, name: x}}\n"
    )
    key = {"OWN_KEY": "sk-000000000000000000000000"}
    assert project.uwf("doctor", env=key).exit_code == 0
    found = project.uwf("doctor", "--as", "tick", env=key)
    first = found.document["checks"][0]
    assert (found.exit_code, found.document["healthy"]) == (1, False)
    assert (first["state"], first["message"]) == ("error", "OWN_KEY is not set")
    printed = project.uwf("tick", "--print", "cron", "--format", "text", env=key).stdout
    assert "UWF_DEFAULT_AGENT=mock" in printed and "sk-0000" not in printed
    assert printed.startswith("# its environment also needs OWN_KEY")
    secrets = project.home / ".env"
    secrets.write_text("OWN_KEY=sk-000000000000000000000000\n")
    secrets.chmod(0o600)
    found = project.uwf("doctor", "--as", "tick")
    assert found.exit_code == 0, found.stdout
    assert found.document["checks"][0]["message"] == "PATH, HOME, UWF_DEFAULT_AGENT, UWF_HOME"


CALLING = """
version: 1
name: calling
roles:
  part: {workflow: loop}
graph:
  $START: {new: {role: part, prompt: Do it.}, resume: {role: part, prompt: More.}}
  part: {approved: {role: $END, prompt: Done.}}
"""


@pytest.mark.parametrize("kind", ["call", "fan-out"])
def test_a_call_in_the_background_that_waits_long_ends_and_tick_continues_it(
    project: Project, uwf: Client, kind: str
):
    """It does not keep the locks of the threads; the earliest time below is that of the caller."""
    retry = RETRY.replace("0.2", "99s").replace("2s", "99s")
    if kind == "call":
        project.workflow("loop", with_retry(retry))
        project.workflow("calling", CALLING)
        thread = uwf.start("calling", "Go.")["thread"]
        project.script([developer(FAILED)])
    else:
        fan_out(project, retry)
        project.script([developer(DONE)])
        thread = uwf.start("fan", "Go.")["thread"]
        uwf.exec(thread)
        project.script([{"role": "reviewer", **FAILED}])
    uwf.exec(thread, until_done=True, background=True)
    until(lambda: uwf.show(thread)["waitingFor"] == "retry" and not uwf.show(thread)["running"])
    shown = uwf.show(thread)
    assert (shown["status"], is_unattended(uwf, thread)) == ("idle", True)
    found = uwf.tick()
    assert (found["started"], found["running"]) == ([], [])
    assert found["nextAtMs"] == shown["waitingUntil"]


def test_a_run_that_waits_with_the_lock_is_shown_with_its_time(project: Project, uwf: Client):
    """In show and list, idle; it can be stopped."""
    project.workflow("loop", timed("30s"))
    project.script([developer(DONE), APPROVED])
    thread = uwf.start("loop", "The task.")["thread"]
    process = project.start_uwf("thread", "exec", thread, "--until-done")
    until(lambda: uwf.show(thread)["waitingFor"] == "timer")
    shown, [row] = uwf.show(thread), uwf.list()
    assert (shown["status"], row["status"]) == ("idle", "idle")
    assert shown["running"] is not None and process.poll() is None
    assert shown["waitingUntil"] == row["waitingUntil"]
    assert uwf.tick()["running"] == [thread]
    uwf.stop(thread)
    process.communicate(timeout=60)
    assert uwf.show(thread)["running"] is None
