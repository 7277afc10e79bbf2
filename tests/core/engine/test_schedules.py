"""`uwf schedule`: threads that start at set times, without a worker: `uwf tick` fires them."""

import json
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from tests.core.engine.conftest import APPROVED, LOOP, UNSURE
from tests.core.engine.test_retries import DONE, developer
from tests.core.engine.test_tick import until

from uwf_core.client import Client, ThreadFilter
from uwf_core.testing.project import CommandOutcome, Project
from uwf_core.threads.clock import ClockJumped
from uwf_core.threads.schedules.stored import Schedule, Stored, find_schedule

HOUR_MS = 3_600_000
BROKEN = LOOP.replace("done: {role: reviewer", "done: {role: reviewr")


@pytest.fixture(autouse=True)
def plays(project: Project) -> None:
    project.script([developer(DONE), APPROVED], repeat=True)


def add(project: Project, name: str, *more: str, cron: str = "0 0 1 1 *") -> dict:
    done = project.uwf("schedule", "add", name, cron, "loop", "-p", "The task.", *more)
    assert done.exit_code == 0, done
    return done.document


def stored(uwf: Client, name: str) -> Stored:
    return find_schedule(uwf._engine.store, name)


def change(uwf: Client, name: str, **fields: object) -> Schedule:
    found = stored(uwf, name)
    return found.save(uwf._engine.store, found.schedule._replace(**fields)).schedule


def make_due(uwf: Client, *names: str, late_ms: int = 0) -> None:
    for name in names:
        change(uwf, name, next_at_ms=int(time.time() * 1000) - late_ms)


def threads_of(uwf: Client, name: str) -> list[str]:
    return [row["thread"] for row in uwf.list(ThreadFilter(all=True, tags={"schedule": name}))]


def listed(project: Project) -> dict:
    return {each["name"]: each for each in project.uwf("schedule", "list").document["schedules"]}


def have_ended(uwf: Client, name: str, count: int = 1) -> Callable[[], bool]:
    def holds() -> bool:
        found = threads_of(uwf, name)
        assert len(found) <= count, found
        return len(found) == count and all(
            uwf.show(each)["status"] == "completed" for each in found
        )

    return holds


def test_the_commands_need_no_worker(project: Project, uwf: Client):
    """Added, shown, paused, resumed, run, fired and removed."""
    shown = add(project, "nightly", "--tz", "Europe/Berlin", "--tag", "team=web", cron="30 2 * * *")
    assert (shown["state"], shown["timeZone"], shown["workflow"], shown["host"]) == (
        "active", "Europe/Berlin", "loop", None,
    )  # fmt: skip
    assert shown["nextAtMs"] > time.time() * 1000
    again = project.uwf("schedule", "add", "nightly", "0 0 * * *", "loop", "-p", "x")
    assert "'nightly' exists" in again.error["message"]
    for words, part in (
        (("x", "0 0 * *", "loop"), "not a cron expression"),
        (("x", "0 0 * * *", "lop"), "'lop'"),
        (("X y", "0 0 * * *", "loop"), "not a name for a schedule"),
        (("x", "0 0 * * *", "loop", "--queue"), "workers cannot run threads of"),
    ):
        refused = project.uwf("schedule", "add", *words, "-p", "x")
        assert refused.exit_code == 2 and part in refused.error["message"], refused
    assert list(listed(project)) == ["nightly"]

    assert uwf.tick()["nextAtMs"] == shown["nextAtMs"]
    make_due(uwf, "nightly")
    paused = project.uwf("schedule", "pause", "nightly").document
    assert (paused["state"], paused["nextAtMs"]) == ("paused", None)
    found = uwf.tick()
    assert (found["fired"], found["nextAtMs"]) == ([], None)
    assert project.uwf("schedule", "resume", "nightly").document["state"] == "active"
    assert uwf.tick()["fired"] == []
    make_due(uwf, "nightly")
    found = uwf.tick()
    [thread] = found["started"]
    assert found["fired"] == [{"schedule": "nightly", "thread": thread}]
    until(have_ended(uwf, "nightly"))
    ran = project.uwf("schedule", "run", "nightly").document
    assert ran["thread"] != thread
    until(have_ended(uwf, "nightly", 2))
    assert len(uwf.list(ThreadFilter(all=True, tags={"team": "web"}))) == 2
    text = project.uwf("schedule", "list", "--format", "text").stdout
    assert "nightly" in text and "30 2 * * *" in text
    assert project.uwf("schedule", "rm", "nightly").document == {"removed": "nightly"}
    assert "unknown schedule" in project.uwf("schedule", "run", "nightly").error["message"]


def test_two_ticks_at_once_fire_a_time_once(project: Project, uwf: Client):
    names = [f"s{number}" for number in range(3)]
    for name in names:
        add(project, name)
    make_due(uwf, *names)
    both = [project.start_uwf("tick") for _ in range(3)]
    ended = [each.communicate(timeout=60) for each in both]
    assert [each.returncode for each in both] == [0, 0, 0], ended
    fired = [each["schedule"] for out, _ in ended for each in json.loads(out)["fired"]]
    assert sorted(fired) == names, ended
    assert [json.loads(out)["problems"] for out, _ in ended] == [[], [], []]
    assert [len(threads_of(uwf, name)) for name in names] == [1, 1, 1]


@pytest.mark.parametrize(
    "point", ["transaction", "start", "variable:1", "variable:2", "variable:3", "commit"]
)
def test_a_tick_that_is_killed_as_it_fires_leaves_all_or_nothing(
    project: Project, uwf: Client, point: str
):
    """The thread and the next time of the schedule are one transaction."""
    add(project, "one")
    make_due(uwf, "one")
    killed = killed_tick(project, point)
    is_created = len(threads_of(uwf, "one")) == 1
    assert is_created == (stored(uwf, "one").schedule.thread is not None), killed
    fired = uwf.tick()["fired"]
    assert [each["thread"] for each in fired] == ([] if is_created else threads_of(uwf, "one"))
    until(have_ended(uwf, "one"))
    assert uwf.tick()["fired"] == []


def killed_tick(project: Project, point: str) -> CommandOutcome:
    killed = project.uwf("tick", env={"UWF_TEST_CRASH": point})
    assert killed.exit_code == -9, killed
    return killed


def test_a_tick_that_is_killed_after_it_has_fired_leaves_a_thread_that_the_next_one_runs(
    project: Project, uwf: Client
):
    add(project, "one")
    make_due(uwf, "one")
    killed_tick(project, "committed")
    [thread] = threads_of(uwf, "one")
    assert uwf.show(thread)["steps"] == 0
    found = uwf.tick()
    assert (found["fired"], found["started"]) == ([], [thread])
    until(have_ended(uwf, "one"))


def test_fired_threads_count_among_the_runs_that_are_alive(project: Project):
    project.config("limits: {runs: 1}\n")
    slow = {"role": "developer", "output": {"$status": "done"}, "delayMs": 1500}
    project.script([slow, APPROVED], repeat=True)
    with project.client() as uwf:
        add(project, "a")
        add(project, "b")
        make_due(uwf, "a", "b")
        found = uwf.tick()
        assert (len(found["fired"]), len(found["started"]), len(found["due"])) == (2, 1, 1)
        until(lambda: uwf.tick() and have_ended(uwf, "a")() and have_ended(uwf, "b")())


def test_a_workflow_that_no_longer_checks_is_reported(project: Project, uwf: Client):
    """The schedule goes on to its next time, and starts threads again once the file is fixed."""
    add(project, "one", cron="0 * * * *")
    project.workflow("loop", BROKEN)
    refused = project.uwf("schedule", "run", "one")
    assert refused.exit_code == 4 and stored(uwf, "one").schedule.error is None
    make_due(uwf, "one")
    [problem] = uwf.tick()["problems"]
    shown = listed(project)["one"]
    assert (problem["schedule"], problem["message"]) == ("one", shown["error"])
    assert shown["state"] == "failing" and shown["nextAtMs"] > time.time() * 1000
    assert uwf.tick()["problems"] == [] and threads_of(uwf, "one") == []
    text = project.uwf("schedule", "list", "--format", "text").stdout
    assert f"one: {shown['error'][:20]}" in text
    project.workflow("loop", LOOP)
    make_due(uwf, "one")
    assert len(uwf.tick()["fired"]) == 1
    assert stored(uwf, "one").schedule.error is None


def test_overlap_waits_for_the_thread_before_or_skips_the_time(project: Project, uwf: Client):
    project.script([developer(DONE), UNSURE], repeat=True)
    add(project, "skips")
    add(project, "queues", "--overlap", "queue")
    make_due(uwf, "skips", "queues")
    assert len(uwf.tick()["fired"]) == 2
    [waits] = threads_of(uwf, "queues")
    until(lambda: uwf.show(waits)["status"] == "suspended" and not uwf.show(waits)["running"])
    make_due(uwf, "skips", "queues")
    assert uwf.tick()["fired"] == []
    assert stored(uwf, "skips").schedule.skipped == "overlap"
    assert "the thread before is open" in project.uwf("schedule", "list", "--format", "text").stdout
    assert stored(uwf, "queues").schedule.waiting == 1
    uwf.cancel(waits)
    assert [each["schedule"] for each in uwf.tick()["fired"]] == ["queues"], "without a new time"
    assert len(threads_of(uwf, "queues")) == 2
    assert len(threads_of(uwf, "skips")) == 1


def test_missed_times_fire_once_or_are_skipped(project: Project, uwf: Client):
    add(project, "once", cron="0 * * * *")
    add(project, "skips", "--missed", "skip")
    make_due(uwf, "skips", "once", late_ms=26 * HOUR_MS)
    assert [each["schedule"] for each in uwf.tick()["fired"]] == ["once"]
    assert uwf.tick()["fired"] == []
    assert stored(uwf, "skips").schedule.skipped == "missed"
    assert len(threads_of(uwf, "once")) == 1


def test_a_schedule_fires_in_its_folder_with_the_settings_of_its_project(
    project: Project, uwf: Client
):
    """Also from another folder, as cron runs it."""
    add(project, "one")
    make_due(uwf, "one")
    with Client.open(env=project.env, cwd="/") as elsewhere:
        [fired] = elsewhere.tick()["fired"]
    assert uwf.thread(fired["thread"]).stored.cwd == str(project.folder)
    until(have_ended(uwf, "one"))


def test_a_folder_that_is_gone_stops_no_other_schedule(project: Project, uwf: Client):
    add(project, "a")
    add(project, "b")
    make_due(uwf, "a", "b")
    store = uwf._engine.store
    found = stored(uwf, "a")
    plan = {**found.plan(store), "cwd": "/gone", "folder": "/gone"}
    store.set_variable(
        found.variable.name, store.put_text(json.dumps(plan)), found.variable.tags, found.variable
    )
    fired = uwf.tick()
    assert [each["schedule"] for each in fired["fired"]] == ["b"]
    assert [each["schedule"] for each in fired["problems"]] == ["a"]


@pytest.mark.parametrize("tag", ["{", "[]", '{"name": "a"}', None])
def test_a_damaged_schedule_stops_no_other(project: Project, uwf: Client, tag: str | None):
    add(project, "a")
    add(project, "b")
    make_due(uwf, "a", "b")
    variable = stored(uwf, "a").variable
    tags = {} if tag is None else {"schedule": tag}
    uwf._engine.store.set_variable(variable.name, variable.value, tags, variable)
    found = uwf.tick()
    assert [each["schedule"] for each in found["fired"]] == ["b"]
    assert "damaged" in found["problems"][0]["message"]
    assert project.uwf("schedule", "rm", "a").exit_code == 0
    assert list(listed(project)) == ["b"]


def test_a_clock_that_is_put_ahead_fires_nothing_until_it_is_accepted(
    project: Project, uwf: Client
):
    """Each pass finds it again; a clock that is put back and right again fires nothing twice."""
    add(project, "hourly", cron="0 * * * *")
    assert uwf.tick()["fired"] == []
    clock = uwf._engine.now_ms
    jumped, later = lambda: clock() + 26 * HOUR_MS, lambda: clock() + 27 * HOUR_MS
    uwf._engine.now_ms = jumped  # type: ignore[method-assign]
    for _ in range(2):
        with pytest.raises(ClockJumped, match="put ahead by 93"):
            uwf.tick()
    assert threads_of(uwf, "hourly") == []
    uwf._engine.now_ms = clock  # type: ignore[method-assign]
    assert uwf.tick()["fired"] == []
    uwf._engine.now_ms = jumped  # type: ignore[method-assign]
    assert len(uwf.tick(accept_clock=True)["fired"]) == 1
    for now in (clock, jumped):
        uwf._engine.now_ms = now  # type: ignore[method-assign]
        with suppress(ClockJumped):
            assert uwf.tick()["fired"] == []
    assert uwf.tick(accept_clock=True)["fired"] == []
    until(have_ended(uwf, "hourly"))
    uwf._engine.now_ms = later  # type: ignore[method-assign]
    assert len(uwf.tick(accept_clock=True)["fired"]) == 1


def test_nothing_is_done_by_a_clock_that_was_put_ahead(project: Project):
    """As a command, by the clocks that the last pass has stored; those of another boot do not
    count, and sleep is part of the time since boot.
    """
    assert project.uwf("tick").exit_code == 0
    file = project.home / "clock.json"
    wall_ms, boot_ms, boot = json.loads(file.read_text())
    file.write_text(json.dumps([wall_ms - 2 * HOUR_MS, boot_ms, boot]))
    refused = project.uwf("tick")
    assert (refused.exit_code, refused.error["code"]) == (2, "clock")
    assert "uwf tick --accept-clock" in refused.error["hint"]
    assert project.uwf("tick").exit_code == 2
    assert project.uwf("tick", "--accept-clock").exit_code == 0
    assert project.uwf("tick").exit_code == 0
    for slept in (
        [wall_ms - 2 * HOUR_MS, boot_ms - 2 * HOUR_MS, boot],
        [wall_ms - 2 * HOUR_MS, boot_ms, "other"],
    ):
        file.write_text(json.dumps(slept))
        assert project.uwf("tick").exit_code == 0
