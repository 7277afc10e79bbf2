"""Dispatch rows: written with the step, claimed by one worker, gone when the thread has ended."""

import random
import time

import pytest

from uwf_core.api.dispatch import Claim, Dispatch, WorkerRow
from uwf_core.api.store import Commit
from uwf_core.client import Cancel, Client
from uwf_core.errors import PayloadError, UsageError
from uwf_core.testing.project import Project
from uwf_store_postgres.backend import PostgresBackend, open_postgres
from uwf_testing.store_records import record

DONE = {"$status": "done"}
TWO = """\
version: 1
name: two
roles:
  planner: &any
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  writer: *any
graph:
  $START: {new: {role: planner, prompt: Plan it.}, resume: {role: planner, prompt: More.}}
  planner: {done: {role: writer, prompt: "Write it."}}
  writer: {done: {role: $END, prompt: "Done."}}
"""
ASKS = TWO.replace("  writer: *any", "  writer: {<<: *any, human: true}").replace("two", "asks")
CALLS = """\
version: 1
name: calls
roles:
  planner:
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  part: {workflow: two}
graph:
  $START: {new: {role: planner, prompt: Plan it.}, resume: {role: planner, prompt: More.}}
  planner:
    done:
      parallel:
        one: {role: part, prompt: First.}
        two: {role: part, prompt: Second.}
        three: {role: part, prompt: Third.}
      maxParallel: 2
      then:
        done: {role: $END, prompt: "Done."}
        $mixed: {role: $END, prompt: "Done."}
"""


def row(thread: str, **fields) -> Dispatch:
    return Dispatch(**{"thread": thread, "seq": 1, "is_wanted": True, **fields})


@pytest.fixture
def backend(url):
    opened = open_postgres(url, "")
    yield opened
    opened.close()


def put(backend: PostgresBackend, *rows: Dispatch) -> None:
    with backend.transaction():
        backend.dispatch(rows)


def settled(claim: Claim, **fields) -> tuple[Claim, Dispatch]:
    return claim, row(claim.thread, **fields)


def test_a_worker_gets_what_it_can_run_by_priority(backend):
    put(
        backend,
        row("a", needs=["agent:x"]),
        row("b", needs=["agent:x", "gpu"]),
        row("c", priority=5),
        row("d", not_before_ms=1 << 45),
        row("e", is_wanted=False),
    )
    labels = ["agent:x", "more"]
    claims = [backend.claim("w", labels, {}) for _ in range(3)]
    assert [each and each.thread for each in claims] == ["c", "a", None]
    assert backend.claim("v", [*labels, "gpu"], {}, "b").thread == "b"
    assert backend.claim("v", [*labels, "gpu"], {}, "a") is None, "it is claimed"


def test_a_worker_finds_all_that_it_can_run_whatever_its_labels_are(backend):
    """The walk over the needs skips many of them, and never one that fits."""
    chance, labels = random.Random(5), ["agent:a", "agent:b", "gpu", "host:x", "host:y", "ä"]
    needs = {tuple(sorted(chance.sample(labels, chance.randrange(5)))) for _ in range(60)}
    put(backend, *(row(f"t{n}", needs=each) for n, each in enumerate(sorted(needs))))
    for _ in range(60):
        has = chance.sample(labels, chance.randrange(7))
        begin = sorted(chance.choice([*needs]))
        sql = "SELECT * FROM {s}.fitting_needs(%s::text[], %s::text[], 99)"
        found = backend._rows(sql, (has, begin))
        assert sorted(tuple(each) for (each,) in found) == sorted(
            n for n in needs if {*n} <= {*has}
        )
    claimed = [backend.claim("w", labels, {}) for _ in range(len(needs) + 1)]
    assert len({each.thread for each in claimed if each}) == len(needs)
    assert claimed[-1] is None


def test_of_very_many_kinds_of_needs_none_is_forgotten(backend):
    """A claim compares some hundred of them; the next one continues behind it."""
    names = [f"t{n:03}" for n in range(250)]
    put(backend, *(row(name, needs=[f"program:{name}"], priority=n % 7) for n, name in
                   enumerate(names)))  # fmt: skip
    labels = [f"program:{name}" for name in names]
    due = [name for _ in range(4) for name, _ in backend.due(labels, 100, 30)]
    assert sorted(due) == names
    claimed = [backend.claim("w", labels, {}) for _ in range(251)]
    assert sorted(each.thread for each in claimed[:-1] if each) == names
    assert claimed[-1] is None


def test_what_no_worker_can_run_is_found_among_many_rows(backend):
    """And what waits is listed by priority, with whether a worker lives that can run it."""
    kinds = [["agent:x"], ["agent:x", "gpu"], ["agent:y"], []]
    put(backend, *(row(f"t{n:02}", needs=kinds[n % 4], priority=n) for n in range(20)))
    backend.beat(WorkerRow("w", "vm", 1, "", ["agent:x", "other"], "running", 0, None, 0, 0))
    taken = [backend.claim("w", ["agent:y"], {}) for _ in range(2)]
    assert [each.thread for each in taken if each] == ["t19", "t18"]
    expected = [n for n in reversed(range(18)) if n % 4 in (1, 2)]
    unserved = backend.waiting(5, unserved=True)
    assert [each.thread for each in backend.waiting(99, unserved=True)] == [
        f"t{n:02}" for n in expected
    ]
    assert len(unserved) == 5 and not any(each.can_run for each in unserved)
    waiting = backend.waiting(6)
    assert [(each.thread, each.can_run) for each in waiting] == [
        (f"t{n:02}", n % 4 in (0, 3)) for n in (17, 16, 15, 14, 13, 12)
    ]


def test_a_worker_that_can_run_nothing_reads_few_of_many_rows(url, server):
    schema = url.partition("schema=")[2]
    server.execute(
        f"INSERT INTO {schema}.dispatch "
        "(thread, seq, wanted, needs, uses, not_before, priority, most) SELECT 't' || i, 1, true, "
        "ARRAY['agent:a' || i % 20, 'host:b'], '{}', 0, 0, 0 FROM generate_series(1, 5000) AS i"
    )
    idle = open_postgres(url, "")
    for _ in range(10):
        assert idle.claim("w", ["agent:a3", "agent:a7", "gpu", "host:c"], {}) is None
    pid = idle._session.connection().info.backend_pid
    idle.close()
    while server.execute(f"SELECT FROM pg_stat_activity WHERE pid = {pid}"):
        time.sleep(0.01)  # it reports what it has read when it ends
    [(rows, entries)] = server.execute(
        "SELECT sum(t.seq_tup_read), sum(i.idx_tup_read) FROM pg_stat_user_tables t "
        f"JOIN pg_stat_user_indexes i USING (relid) WHERE i.indexrelname = 'dispatch_wanted' "
        f"AND t.schemaname = '{schema}'"
    )
    assert (rows, entries <= 10 * 10) == (0, True), (rows, entries)


def test_limits_are_counted_over_all_workers(backend):
    put(backend, *(row(name, uses=["model:m"]) for name in "abc"))
    put(backend, *(row(name, group="g", most=1) for name in "xy"))
    limits = {"model:m": 2}
    found = [backend.claim(f"w{number}", [], limits) for number in range(5)]
    names = sorted(each.thread for each in found if each)
    assert names == ["a", "b", "x"], "two of the model, one of the group"
    backend.release(next(each for each in found if each and each.thread == "x"))
    assert backend.claim("v", [], limits, "x") is not None


def test_a_row_that_others_wrote_meanwhile_is_not_overwritten(backend):
    put(backend, row("a"))
    claim = backend.claim("w", [], {})
    put(backend, row("b", is_ended=True, caller="a"))
    assert not backend.settle(*settled(claim, is_wanted=False), None, keeps=False)
    now = backend.row("a")
    assert (now.token, now.version) == (claim.token, claim.version + 1)
    assert backend.settle(
        *settled(claim._replace(version=now.version), is_wanted=False), None, keeps=False
    )
    assert backend.claim("w", [], {}) is None


def test_an_expired_claim_is_taken_over_and_its_holder_writes_nothing(backend, url, server):
    put(backend, row("a"))
    first = backend.claim("w", [], {})
    schema = url.partition("schema=")[2]
    server.execute(f"UPDATE {schema}.dispatch SET expires = now() - interval '1 s'")
    second = backend.claim("v", [], {})
    assert second is not None and second.token != first.token
    assert not backend.settle(*settled(first), None, keeps=False)
    worker = WorkerRow("w", "h", 1, "", [], "running", 0, "a", 0, 0)
    assert backend.beat(worker) is None, "it renews nothing of the other"
    assert backend.request("a", "stop") == "asked"
    assert backend.beat(worker._replace(id="v")) == "stop"


def test_a_refused_step_writes_no_row(backend):
    """The row is part of the transaction of the step."""
    lost = backend.commit(Commit([record("x")], [], [object()], True, [row("a")]))
    assert lost.lost
    assert backend.row("a") is None
    assert not backend.commit(Commit([record("x")], [], [], True, [row("a")])).lost
    assert backend.row("a") is not None
    put(backend, row("a", is_ended=True))
    assert backend.row("a") is None


def test_a_hint_is_due_once_in_a_while(backend):
    put(backend, row("a"), row("b", needs=["gpu"]))
    assert backend.due([], 10, 30) == [("a", [])]
    assert backend.due([], 10, 30) == []
    assert backend.due(["gpu"], 10, 30) == [("b", ["gpu"])]
    assert sorted(backend.due(["gpu"], 10, 0)) == [("a", []), ("b", ["gpu"])]


def test_a_thread_whose_worker_has_died_is_due_at_once(backend, url, server):
    """Whenever the last hint for it was given."""
    put(backend, row("a"), row("b"))
    assert sorted(backend.due([], 10, 30)) == [("a", []), ("b", [])]
    claims = [backend.claim(name, [], {}) for name in "vw"]
    assert backend.due([], 10, 30) == []
    backend.leave("v")
    assert backend.due([], 10, 30) == [(claims[0].thread, [])]
    schema = url.partition("schema=")[2]
    server.execute(f"UPDATE {schema}.dispatch SET expires = now() - interval '1 s'")
    assert backend.due([], 10, 30) == [(claims[1].thread, [])]


# -- threads ---------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path, url) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = url
    made.workflow("two", TWO)
    made.workflow("asks", ASKS)
    made.workflow("calls", CALLS)
    replies = [{"role": "planner", "output": DONE}, {"role": "writer", "output": DONE}]
    made.script(replies, repeat=True)
    return made


def started(uwf: Client, workflow: str) -> str:
    return uwf.start(workflow, "Task.", queue=True)["thread"]


def work(uwf: Client, labels: list[str] | None = None, most: int = 50) -> list[str]:
    """Run whatever may be run, one thread after the other; the threads."""
    queued, found = uwf.queued, []
    labels = queued.own_labels() if labels is None else labels
    while len(found) < most:
        claim = queued.backend.claim("w", labels, queued.limits)
        if claim is None:
            break
        found.append(claim.thread)
        queued.settle(claim, queued.run(claim, labels, Cancel(), lambda: True))
    return found


def test_a_queued_thread_is_run_by_a_worker_and_its_row_goes(project):
    with project.client() as uwf:
        thread = started(uwf, "two")
        assert uwf.show(thread)["steps"] == 0
        assert work(uwf) == [thread]
        assert uwf.show(thread)["status"] == "completed"
        assert uwf.queued.backend.row(thread) is None


def test_a_thread_moves_to_the_worker_that_has_the_agent_of_its_next_role(project):
    project.config(
        "defaultAgent: mock\nagents: {big: {use: mock}}\nagentOverrides: {two: {writer: human}}\n"
    )
    with project.client() as uwf:
        thread, host = started(uwf, "two"), uwf.queued.own_labels()[0]
        assert work(uwf, [host, "agent:mock"]) == [thread]
        assert uwf.show(thread)["steps"] == 1
        assert work(uwf, [host, "agent:mock"]) == []
        [waiting] = uwf.queued.backend.waiting(10)
        assert "agent:human" in waiting.needs
        assert not waiting.can_run


def test_a_call_wants_its_branches_and_the_last_one_wants_the_caller(project):
    """The caller rests while its branches run, at most two at a time, each as a job of its own."""
    with project.client() as uwf:
        thread = started(uwf, "calls")
        labels, queued = uwf.queued.own_labels(), uwf.queued
        claim = queued.backend.claim("w", labels, {})
        queued.settle(claim, queued.run(claim, labels, Cancel(), lambda: True))
        assert uwf.show(thread)["steps"] == 1, "the branches have begun and nobody runs them"
        taken = [queued.backend.claim(f"w{number}", labels, {}) for number in range(4)]
        assert sum(each is not None for each in taken) == 2
        for each in filter(None, taken):
            assert each.thread != thread
            queued.backend.release(each)
        time.sleep(1.1)  # what has no room is put off by a second
        ran = work(uwf)
        assert ran[-1] == thread, ran
        assert len(ran) == len({*ran}) == 4, (thread, ran)
        assert uwf.show(thread)["status"] == "completed"
        assert not uwf.queued.backend.waiting(10)


def test_whoever_moves_a_queued_thread_wants_it(project):
    """A person who answers on another machine, without --queue, leaves the rest to workers."""
    with project.client() as uwf:
        thread = started(uwf, "asks")
        assert work(uwf) == [thread]
        assert uwf.show(thread)["suspendReason"] == "role"
        assert work(uwf) == []
        uwf.resume(thread, answer=DONE, queue=True)
        assert work(uwf) == [thread]
        assert uwf.show(thread)["status"] == "completed"
        step = uwf.steps(thread)[-1]
        assert step["role"] == "writer"


def test_a_wrong_answer_is_refused_before_it_is_queued(project):
    with project.client() as uwf:
        thread = started(uwf, "asks")
        work(uwf)
        before = uwf.queued.backend.row(thread)
        with pytest.raises(PayloadError):
            uwf.resume(thread, answer={"$status": "maybe"}, queue=True)
        assert uwf.queued.backend.row(thread) == before


def test_queue_on_the_command_line(project):
    done = project.uwf("run", "two", "-p", "Task.", "--queue")
    assert done.exit_code == 0, done
    thread = done.document["thread"]
    refused = project.uwf("thread", "exec", thread, "--queue", "--agent", "mock")
    assert "--queue and --agent" in refused.error["message"]
    with project.client() as uwf:
        assert work(uwf) == [thread]


def test_stop_keeps_workers_away_until_it_is_queued_again(project):
    with project.client() as uwf:
        thread = started(uwf, "two")
        uwf.stop(thread)
        assert work(uwf) == []
        uwf.exec(thread, queue=True)
        assert work(uwf) == [thread]


@pytest.mark.parametrize(("kind", "tries"), [("crashed", 5), ("refused", 1)])
def test_only_transient_failures_are_repeated_and_not_forever(project, kind, tries, monkeypatch):
    """The pause between tries grows; what still fails after five waits for a person."""
    monkeypatch.setattr("uwf_core.engine.dispatching._FIRST_PAUSE_SECONDS", 0)
    project.script([{"role": "planner", "fail": {"kind": kind, "message": "no"}}], repeat=True)
    with project.client() as uwf:
        thread = started(uwf, "two")
        assert work(uwf) == [thread] * tries
        assert uwf.show(thread)["suspendReason"] == "failure"
        uwf.exec(thread, queue=True)
        assert work(uwf) == [thread], "a person asks for one more"


def test_a_store_without_rows_says_so(tmp_path):
    project = Project(tmp_path)
    project.workflow("two", TWO)
    with project.client() as uwf:
        with pytest.raises(UsageError) as caught:
            started(uwf, "two")
        assert "PostgreSQL" in (caught.value.hint or "")
        assert list(uwf.list()) == []


def test_a_worker_runs_no_agent_that_its_owner_has_not_configured(project, server, url):
    """The store can name any command, and its rows can be forged by those who write to it."""
    mark = project.folder / "mark"
    with project.client() as uwf:
        thread = uwf.start("two", "Task.", agent=f"touch {mark}", queue=True)["thread"]
        assert work(uwf) == []
        schema = url.partition("schema=")[2]
        server.execute(f"UPDATE {schema}.dispatch SET needs = '{{}}'")
        assert work(uwf) == [thread]
        assert not mark.exists()
        assert uwf.show(thread)["steps"] == 0


def test_an_agent_that_only_an_earlier_attempt_names_is_not_run(project):
    """Such an attempt is a node, which others can have written."""
    mark = project.folder / "mark"
    with project.client() as uwf:
        thread = uwf.start("two", "Task.")["thread"]
        project.script([{"role": "planner", "fail": {"kind": "refused", "message": "no"}}])
        uwf.exec(thread)
        engine = uwf._engine
        engine.worker_labels = {"agent:human"}
        outcome = None
        with pytest.raises(UsageError, match="does not run agent:mock"):
            outcome = uwf.exec(thread)
        assert outcome is None and not mark.exists()
