"""Schedules: each time is fired once, by whichever worker, and what goes wrong is shown."""

import threading
import time
from collections.abc import Iterator

import pytest
from test_dispatch import TWO, work
from test_threads import BOTH

from uwf_core.client import Client, ThreadFilter
from uwf_core.ids import ThreadId
from uwf_core.testing.project import Project
from uwf_store_postgres.place import Place, place_of
from uwf_worker.schedules import firing as firing_module
from uwf_worker.schedules.firing import Firing, begun, firing_schedules, start, start_now
from uwf_worker.schedules.table import Schedule, ScheduleTable

HOUR_MS = 3_600_000


@pytest.fixture
def project(tmp_path, workers_url) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = workers_url
    made.workflow("two", TWO)
    made.script(BOTH, repeat=True)
    return made


@pytest.fixture
def place(workers_url) -> Place:
    return place_of(workers_url)


@pytest.fixture
def table(place) -> Iterator[ScheduleTable]:
    found = ScheduleTable(place)
    yield found
    found.close()


@pytest.fixture
def due(server, place):
    """Make schedules due: since so many ms."""

    def make(late_ms: int = 0, fields: str = "") -> None:
        server.execute(
            f"UPDATE {place.schema}.schedule SET next = (extract(epoch FROM clock_timestamp()) "
            f"* 1000)::bigint - {late_ms}{fields}"
        )

    return make


def add(project: Project, name: str, *more: str, cron: str = "0 0 1 1 *") -> dict:
    done = project.uwf("schedule", "add", name, cron, "two", "-p", "The task.", *more)
    assert done.exit_code == 0, done
    return done.document


def listed(project: Project) -> dict:
    return {each["name"]: each for each in project.uwf("schedule", "list").document["schedules"]}


def threads_of(project: Project, name: str) -> list[str]:
    with project.client() as uwf:
        rows = uwf.list(ThreadFilter(all=True, tags={"schedule": name}))
        return [row["thread"] for row in rows]


class Fires:
    """What a worker of a project has to fire schedules."""

    def __init__(self, project: Project, place: Place) -> None:
        self.said: list[str] = []
        self.table = ScheduleTable(place)
        self.firing = Firing(self.table, lambda folder: opened(project, folder), self.said.append)

    def sweep(self) -> int:
        try:
            return self.firing.sweep()
        finally:
            self.table.close()


def opened(project: Project, folder: str) -> Client:
    return Client.open(home=project.home, cwd=folder, env=project.env)


def test_the_commands(project, place, due):
    """Added, shown, paused, resumed, run, fired and removed."""
    shown = add(project, "nightly", "--tz", "Europe/Berlin", "--tag", "team=web", cron="30 2 * * *")
    assert (shown["state"], shown["timeZone"], shown["workflow"]) == (
        "active", "Europe/Berlin", "two",
    )  # fmt: skip
    assert shown["nextAtMs"] > time.time() * 1000
    again = project.uwf("schedule", "add", "nightly", "0 0 * * *", "two", "-p", "x")
    assert "'nightly' exists" in again.error["message"]
    for words, part in (
        (("x", "0 0 * *", "two"), "not a cron expression"),
        (("x", "0 0 * * *", "tow"), "'tow'"),
        (("X y", "0 0 * * *", "two"), "not a name for a schedule"),
    ):
        refused = project.uwf("schedule", "add", *words, "-p", "x")
        assert refused.exit_code == 2 and part in refused.error["message"], refused
    assert list(listed(project)) == ["nightly"]

    paused = project.uwf("schedule", "pause", "nightly").document
    assert (paused["state"], paused["nextAtMs"]) == ("paused", None)
    due()
    assert Fires(project, place).sweep() == 0
    assert project.uwf("schedule", "resume", "nightly").document["state"] == "active"
    due()
    assert Fires(project, place).sweep() == 1
    ran = project.uwf("schedule", "run", "nightly").document
    assert threads_of(project, "nightly")[0] == ran["thread"]
    assert len(threads_of(project, "nightly")) == 2
    with project.client() as uwf:
        assert len(uwf.list(ThreadFilter(all=True, tags={"team": "web"}))) == 2
        assert len(work(uwf)) == 2
        assert uwf.show(ran["thread"])["status"] == "completed"
    text = project.uwf("schedule", "list", "--format", "text").stdout
    assert "nightly" in text and "30 2 * * *" in text
    assert project.uwf("schedule", "rm", "nightly").document == {"removed": "nightly"}
    assert "unknown schedule" in project.uwf("schedule", "run", "nightly").error["message"]


def test_two_workers_fire_one_time_once(project, place, table, due):
    """Both look at the same schedules at the same moment."""
    names = [f"s{number}" for number in range(4)]
    first = add(project, names[0])
    one = table.find(first["name"])
    for name in names[1:]:
        assert table.add(one._replace(name=name))
    due()
    both, barrier = [Fires(project, place), Fires(project, place)], threading.Barrier(2)
    counts: list[int] = []

    def sweep(each: Fires) -> None:
        barrier.wait()
        counts.append(each.sweep())

    running = [threading.Thread(target=sweep, args=(each,)) for each in both]
    for each in running:
        each.start()
    for each in running:
        each.join(120)
    assert sum(counts) == len(names), (counts, both[0].said, both[1].said)
    for name in names:
        assert threads_of(project, name) == [table.find(name).thread]
    assert [each.sweep() for each in both] == [0, 0]


class Killed(BaseException):
    """The process ends at this point."""


@pytest.mark.parametrize("is_created", [False, True])
def test_a_start_that_was_not_recorded_is_not_made_twice(project, place, table, due, is_created):
    """The worker dies before or after it has created the thread. Also if the next time of the
    schedule comes first, the start is finished, and that time is fired as well.
    """
    add(project, "one", "--overlap", "queue")
    due()
    with table.claimed("one") as found:
        table.save(begun(*found)._replace(next_ms=found[1] + HOUR_MS))
    if is_created:
        with pytest.raises(Killed), table.claimed("one") as found:
            with opened(project, str(project.folder)) as client:
                start(client, *found)
            raise Killed
        assert len(threads_of(project, "one")) == 1
    pending = table.find("one").pending
    assert (table.find("one").thread, pending is None) == (None, False)
    due()
    assert Fires(project, place).sweep() == 1
    assert threads_of(project, "one") == [pending] == [table.find("one").thread]
    with project.client() as uwf:
        work(uwf)
    assert Fires(project, place).sweep() == 1
    assert threads_of(project, "one") == [table.find("one").thread, pending]


def test_a_killed_run_is_finished_by_its_repetition(project, place, table):
    """Its time part is that of the first call, and the times of the schedule stay."""
    add(project, "one")
    project.uwf("schedule", "pause", "one")
    before = table.find("one")
    for where in (0, 1):  # before and after the thread is created
        count = len(threads_of(project, "one"))

        def killed(folder: str, where: int = where) -> Client:
            if where == 0:
                raise Killed
            with opened(project, folder) as client:
                start(client, table.find("one"), 0)
            raise Killed

        another = ScheduleTable(place)
        with pytest.raises(Killed):
            start_now(another, killed, "one")
        another.close()
        pending = table.find("one").pending
        assert project.uwf("schedule", "run", "one").document["thread"] == pending
        assert len(threads_of(project, "one")) == count + 1
    after = table.find("one")
    assert (after.next_ms, after.pending, after.is_paused) == (before.next_ms, None, True)


def test_a_run_that_starts_nothing_leaves_no_trace(project, table):
    add(project, "one")
    before = table.find("one")
    project.workflow("two", TWO.replace("role: writer,", "role: writr,"))
    assert project.uwf("schedule", "run", "one").exit_code == 4
    assert table.find("one") == before
    assert start_now(table, lambda folder: opened(project, folder), "other") is None


@pytest.mark.parametrize("is_created", [False, True])
def test_a_pause_drops_a_start_that_was_interrupted(project, place, table, due, is_created):
    """Unless its thread exists: then it is the last one of the schedule."""
    add(project, "one")
    due()
    with table.claimed("one") as found:
        table.save(begun(*found))
        one, now_ms = begun(*found), found[1]
    table.save(one)
    if is_created:
        with opened(project, str(project.folder)) as client:
            start(client, one, now_ms)
    project.uwf("schedule", "pause", "one")
    assert project.uwf("schedule", "resume", "one").document["state"] == "active"
    assert table.find("one").thread == (one.pending if is_created else None)
    assert Fires(project, place).sweep() == 0
    assert threads_of(project, "one") == ([one.pending] if is_created else [])


def test_the_time_of_a_thread_is_when_it_was_created(project, place, table, due, server):
    """Started ahead of time, late, after a pause, or after the thread before has ended."""
    add(project, "one", "--missed", "once", "--overlap", "queue")
    begins = time.time() * 1000 - 1
    project.uwf("schedule", "run", "one")
    with project.client() as uwf:
        for late in (0, 26 * HOUR_MS, 0):
            due(late)
            Fires(project, place).sweep()
            work(uwf)
            Fires(project, place).sweep()
            work(uwf)
    found = threads_of(project, "one")
    assert len(found) == 4
    assert all(begins <= ThreadId(each).created_ms <= time.time() * 1000 + 1 for each in found)


def test_the_threads_of_a_schedule_sort_as_they_were_started(project, table):
    """Also within a millisecond, and when the clock of a machine goes back."""
    add(project, "one")
    one, now_ms = table.find("one"), 1_800_000_000_000
    ids = []
    for late in (0, 0, 0, 1, 0, 0, -HOUR_MS):
        one = begun(one, now_ms + late)
        ids.append(one.pending)
        one = one._replace(thread=one.pending, pending=None)
    assert ids == sorted({*ids})
    assert [ThreadId(each).created_ms - now_ms for each in ids] == [0, 0, 0, 1, 1, 1, 1]


def test_a_workflow_that_no_longer_checks_is_reported(project, place, table, due):
    """The schedule goes on to its next time, and starts threads again once the file is fixed."""
    add(project, "one", cron="0 * * * *")
    project.workflow("two", TWO.replace("role: writer,", "role: writr,"))
    due()
    fires = Fires(project, place)
    assert fires.sweep() == 0
    shown = listed(project)["one"]
    assert shown["state"] == "failing" and "two" in shown["error"], shown
    assert shown["nextAtMs"] > time.time() * 1000
    assert "schedule one: " in fires.said[0]
    assert threads_of(project, "one") == []
    text = project.uwf("schedule", "list", "--format", "text").stdout
    assert f"one: {shown['error'][:20]}" in text
    project.workflow("two", TWO)
    due()
    assert fires.sweep() == 1
    assert (table.find("one").error, len(threads_of(project, "one"))) == (None, 1)


def test_overlap_waits_for_the_thread_before_or_skips_the_time(project, place, table, due):
    add(project, "skips")
    add(project, "queues", "--overlap", "queue")
    due()
    assert Fires(project, place).sweep() == 2
    due()
    assert Fires(project, place).sweep() == 0
    assert table.find("skips").skipped == "overlap"
    assert table.find("queues").waiting == 1
    with project.client() as uwf:
        assert len(work(uwf)) == 2
    assert Fires(project, place).sweep() == 1, "without a new time"
    assert len(threads_of(project, "queues")) == 2
    assert len(threads_of(project, "skips")) == 1


def test_missed_times_are_skipped_or_fire_once(project, place, table, due):
    add(project, "skips")
    add(project, "once", "--missed", "once")
    due(26 * HOUR_MS)
    assert Fires(project, place).sweep() == 1
    assert table.find("skips").skipped == "missed"
    assert len(threads_of(project, "once")) == 1


def test_a_schedule_of_another_machine_is_left_to_it(project, place, due):
    add(project, "there")
    add(project, "anywhere", "--tag", "host=any")
    due(0, ", host = CASE WHEN host IS NULL THEN NULL ELSE 'moon' END")
    assert Fires(project, place).sweep() == 1
    assert threads_of(project, "there") == []
    assert len(threads_of(project, "anywhere")) == 1


def test_a_folder_that_is_gone_stops_no_other_schedule(project, place, table, due):
    add(project, "a")
    add(project, "b")
    gone: Schedule = table.find("a")
    assert table.remove("a")
    nowhere = str(project.folder / "gone")
    assert table.add(gone._replace(plan={**gone.plan, "cwd": nowhere, "folder": nowhere}))
    due()
    assert Fires(project, place).sweep() == 1
    assert "gone" in table.find("a").error
    assert len(threads_of(project, "b")) == 1


@pytest.mark.parametrize("plan", ["", "[]", "{}", '{"folder": ".", "word": 1}'])
def test_a_row_that_others_wrote_stops_no_other_schedule(project, place, table, due, server, plan):
    add(project, "a")
    one = table.find("a")
    assert table.add(one._replace(name="b"))
    server.execute(f"UPDATE {place.schema}.schedule SET plan = '{plan}' WHERE name = 'a'")
    due()
    assert Fires(project, place).sweep() == 1
    assert table.find("a").error
    assert threads_of(project, "a") == []
    assert project.uwf("schedule", "list").document["schedules"][0]["workflow"] in (None, "two")


def test_a_worker_fires_while_it_runs(project, place, table, due, server, monkeypatch):
    """Also after a failure of the database, which it reports once."""
    monkeypatch.setattr(firing_module, "SWEEP_SECONDS", 0.1)
    add(project, "one")
    said: list[str] = []
    with firing_schedules(place, lambda folder: opened(project, folder), said.append):
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
        time.sleep(0.3)
        due()
        until = time.monotonic() + 60
        while table.find("one").thread is None:
            assert time.monotonic() < until, said
            time.sleep(0.1)
    assert said[-1] == f"schedule one: thread {table.find('one').thread}"
