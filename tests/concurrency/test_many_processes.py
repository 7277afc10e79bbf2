"""One writer per thread, any number of threads, and a store that nobody finds locked."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from rig import AGAIN, DONE, GOOD, SECONDS, Rig

WORKER = Path(__file__).parent / "programs" / "worker.py"
TIMES = 20


class Call(NamedTuple):
    """One call of `uwf`, and the process that made it."""

    pid: int
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err.splitlines()[-1])["error"]


def at_once(rig: Rig, calls: Sequence[Sequence[str]], times: int = TIMES) -> list[list[Call]]:
    """Let a process for each of `calls` make that call so many times, all from one moment on."""
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(times), *words],
            cwd=rig.folder,
            env=rig.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words in calls
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(len(workers)) as pool:
        printed = list(pool.map(lambda worker: worker.communicate(timeout=110), workers))
    assert [worker.returncode for worker in workers] == [0] * len(workers), printed
    return [
        [Call(worker.pid, **json.loads(line)) for line in out.splitlines()]
        for worker, (out, _) in zip(workers, printed, strict=True)
    ]


def check_never_locked(calls: Sequence[Call]) -> None:
    """SQLite's own words for a conflict reach nobody."""
    assert not [call for call in calls if re.search("locked|Traceback|internal", call.err)]


def test_sixteen_processes_on_one_thread_lose_no_step_and_losers_name_the_holder(rig: Rig) -> None:
    rig.play({**DONE, "delayMs": 20}, {**AGAIN, "delayMs": 20}, repeat=True)
    thread = rig.start()
    by_process = at_once(rig, [["thread", "exec", thread]] * 16)
    calls = [call for each in by_process for call in each]
    check_never_locked(calls)
    assert {call.code for call in calls} == {0, 75}
    winners = [call for call in calls if call.code == 0]
    steps = [call.document["steps"][0]["step"] for call in winners]
    assert len(set(steps)) == len(winners)
    with rig.client() as uwf:
        chain = uwf.steps(thread)[1:]
        assert uwf.show(thread)["steps"] == len(winners)
    assert {row["step"] for row in chain} == set(steps), "every acknowledged step, and no other"
    assert [row["number"] for row in chain] == list(range(1, len(winners) + 1))
    losers = [call for call in calls if call.code == 75]
    assert all(call.out == "" and call.error["code"] == "busy" for call in losers)
    named = [
        re.findall(r"already running .process (\d+)", call.error["message"]) for call in losers
    ]
    pids = {str(each[0].pid) for each in by_process}
    assert {pid for found in named for pid in found} <= pids
    # Only whoever lets go or begins in that very moment has no name.
    assert sum(map(bool, named)) > len(losers) / 2


def test_eight_processes_on_eight_threads_of_one_store_never_meet(rig: Rig) -> None:
    rig.play(DONE, AGAIN, repeat=True)
    threads = [rig.start() for _ in range(8)]
    by_process = at_once(rig, [["thread", "exec", thread] for thread in threads])
    calls = [call for each in by_process for call in each]
    check_never_locked(calls)
    assert {call.code for call in calls} == {0}
    with rig.client() as uwf:
        for thread, own in zip(threads, by_process, strict=True):
            chain = [row["step"] for row in uwf.steps(thread)[1:]]
            assert chain == [call.document["steps"][0]["step"] for call in own]


def test_sixteen_first_openings_of_a_store_at_once_all_succeed(rig: Rig) -> None:
    words = [
        ("thread", "start", "loop", "-p", "The task."),
        ("workflow", "add", ".workflow/loop.yaml"),
        ("thread", "list"),
        ("run", "loop", "-p", "The task.", "--agent", "mock"),
    ]
    rig.play(DONE, GOOD)
    assert not rig.home.exists()
    processes = [rig.start_uwf(*words[number % len(words)]) for number in range(16)]
    ends = [process.communicate(timeout=SECONDS) for process in processes]
    for process, (_, errors) in zip(processes, ends, strict=True):
        assert process.returncode == 0, errors
        assert not re.search("locked|Traceback|internal", errors)
    with rig.client() as uwf:
        names = uwf.nodes.names("@uwf/registry/")
    assert [name.name for name in names] == ["@uwf/registry/loop"]
    shown = rig.uwf("thread", "list", "--all").document["threads"]
    assert sorted(each["status"] for each in shown) == ["completed"] * 4 + ["idle"] * 4


def test_watchers_never_make_a_run_fail(rig: Rig) -> None:
    rig.play(DONE, AGAIN, repeat=True)
    thread = rig.start()
    watchers = [
        ["thread", "show", thread],
        ["thread", "list", "--all"],
        ["thread", "read", thread],
        ["step", "list", thread],
    ]
    run, *seen = at_once(rig, [["thread", "exec", thread], *watchers])
    assert [call.code for call in run] == [0] * TIMES
    for calls in seen:
        check_never_locked(calls)
        assert [call.code for call in calls] == [0] * TIMES


def test_resume_poke_and_cancel_wait_for_nobody_either(rig: Rig) -> None:
    """Whatever writes a thread says 75 while another one does; cancel stops that one first."""
    rig.play({**DONE, "delayMs": 280_000})
    thread = rig.start()
    process = rig.start_uwf("thread", "exec", thread)
    assert process.stderr is not None
    process.stderr.readline()
    for words in (("resume",), ("poke", "-p", "more"), ("exec",), ("exec", "--background")):
        refused = rig.uwf("thread", words[0], thread, *words[1:])
        assert (refused.exit_code, refused.stdout) == (75, ""), words
        assert str(process.pid) in refused.error["message"]
    cancelled = rig.uwf("thread", "cancel", thread)
    assert (cancelled.exit_code, cancelled.document["status"]) == (0, "cancelled")
    process.communicate(timeout=SECONDS)
    assert process.returncode == 130
