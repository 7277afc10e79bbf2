"""`kill -9` at any moment of a thread with branches: of the process that runs it, of those that run
its branches, and of others that run a branch beside it.

The long form (see `test_kill.py`) kills a thread with 16 branches; the short one makes a quarter of
its kills, of a thread with 10. `UWF_KILL_SEED` repeats a run.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from typing import Any

import pytest
from rig import SECONDS, Rig, eventually, marked
from test_kill import KILLS, SEED
from tests.core.obeying import (
    branches,
    for_each,
    joined,
    joint_output,
    obey,
    statuses,
    task,
    two_roles,
)
from tests.faults.calls import ALL, miscalled, miscounted
from tests.forms import form
from tests.step_parts import call_of

from uwf_core.client import Client

CHECKED = two_roles("writer", "checker", "checked DO sleep=150")
BRANCHES = form(short=10, long=16)
"""More than run at a time, so that some wait. Their agents sleep so long (in ms) that a kill often
meets one at work; a run that is killed while it starts shows little, and costs as much.
"""
DOES = [f"sleep={150 + number * 7 % 40}" for number in range(BRANCHES)]
POINTS = ("calls", "join", "commit:9", "committed:5", "return", "begin", "advance:2")
"""Where the process of the root kills itself; those of its branches come to some as well."""
LEAST_HITS = 3
"""So many kills must leave an interrupted step: below that nothing is proved yet."""


@pytest.fixture
def tree(rig: Rig) -> Rig:
    """A rig whose workflow `deep` has branches of two steps each."""
    obey(rig)
    rig.config("limits: {graceSeconds: 0.3, parallel: 8}\n")
    rig.workflow("checked", CHECKED)
    rig.workflow("deep", for_each("deep", "\n    workflow: checked\n", most="8"))
    return rig


class Killer:
    """Kills something of one run of a root after the other, and looks at what it has left."""

    def __init__(self, rig: Rig, uwf: Client) -> None:
        self.rig, self.uwf, self.random = rig, uwf, random.Random(SEED)
        self.kinds: Counter[str] = Counter()
        self.hits = 0
        root = self.begun()
        started = time.monotonic()
        assert rig.uwf("thread", "exec", root, "--until-done").exit_code == 0
        self.usual_seconds = time.monotonic() - started
        self.smooth = self._end(root)

    def begun(self) -> str:
        return self.uwf.start("deep", task(*DOES))["thread"]

    def kill(self, root: str) -> None:
        """Run the root, perhaps a branch beside it, and kill one of all these processes."""
        before = self._steps()
        kinds = {"root": 4, "branch": 4, "beside": 2, "all": 2, "point": 2}
        [kind] = self.random.choices(list(kinds), list(kinds.values()))
        crash = {"UWF_TEST_CRASH": self.random.choice(POINTS)} if kind == "point" else {}
        processes = [self._start(root, crash)]
        if kind == "beside" and (open_now := branches(self.uwf, root)):
            processes.append(self._start(self.random.choice(open_now), {}))
        if kind != "point":
            time.sleep(self.random.uniform(0, self.usual_seconds))
            self._kill(kind, processes)
        codes = [self._ended(each) for each in processes]
        self.kinds[kind] += 1
        self._look(root, before, codes)

    def _start(self, thread: str, more: dict[str, str]) -> "subprocess.Popen[str]":
        words = self.rig.command("thread", "exec", thread, "--until-done")
        return subprocess.Popen(
            words,
            cwd=self.rig.folder,
            env={**self.rig.env, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _kill(self, kind: str, processes: list["subprocess.Popen[str]"]) -> None:
        everybody = marked(f"UWF_TEST_MARK={self.rig.mark}".encode())
        match kind:
            case "branch":
                own = {each.pid for each in processes}
                below = [pid for pid in everybody if pid not in own]
                victims = below and [self.random.choice(below)]  # or its reaper
            case "all":
                victims = everybody
            case _:
                victims = [processes[-1].pid]
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _ended(self, process: "subprocess.Popen[str]") -> int:
        _, err = process.communicate(timeout=SECONDS)
        assert "Traceback" not in err, err
        # One beside the root may begin when the branch is done, and its result is recorded.
        is_late = process.returncode == 2 and "is recorded in step" in err
        assert is_late or process.returncode in (0, -9, 1, 75, 130), (process.returncode, err)
        return process.returncode

    def _look(self, root: str, before: set[str], codes: list[int]) -> None:
        """Nothing is lost, nothing is called twice, nobody is said to run it, nothing runs."""
        uwf = self.uwf
        assert eventually(lambda: not self.rig.living(), 15), self.rig.living()
        # A killed process loses its environment, by which we find it, just before its locks.
        assert eventually(lambda: not any(each["running"] for each in uwf.list(ALL)), 15)
        assert before <= self._steps()
        assert miscalled(uwf) is None
        reasons = statuses(uwf, root)
        self.hits += "interrupted" in reasons
        assert set(reasons) <= {"idle", "completed", "interrupted"}, (reasons, codes)

    def _steps(self) -> set[str]:
        return {
            row["step"] for each in self.uwf.list(ALL) for row in self.uwf.steps(each["thread"])
        }

    def finish(self, root: str) -> None:
        """The next exec recovers what is left, and ends as if nothing had happened."""
        outcome = self.uwf.exec(root, until_done=True)
        assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome
        assert self._end(root) == self.smooth

    def _end(self, root: str) -> Any:
        uwf = self.uwf
        store = uwf._engine.store
        step = joined(uwf, root)
        assert len({each["thread"] for each in call_of(step)["branches"]}) == len(DOES)
        assert miscalled(uwf) is None
        assert miscounted(uwf, root) is None
        assert [each.name for each in store.variables(f"@uwf/call/{root}/")] == []
        found = uwf.verify()
        assert found["valid"], found["problems"]
        threads = [root, *(each["thread"] for each in call_of(step)["branches"])]
        routes = [[row["role"] for row in uwf.steps(each)] for each in threads]
        return json.dumps([joint_output(uwf, root), routes])


@pytest.mark.timeout(240 + 30 * KILLS)
def test_a_thread_with_branches_killed_at_any_moment_records_each_branch_once_and_ends_the_same(
    tree: Rig,
) -> None:
    print(f"again with UWF_KILL_SEED={SEED}")
    most = form(short=KILLS // 4, long=KILLS)
    with tree.client() as uwf:
        killer = Killer(tree, uwf)
        kills, ended, root = 0, 0, killer.begun()
        while kills < most or killer.hits < LEAST_HITS:
            killer.kill(root)
            kills += 1
            if uwf.show(root)["status"] == "completed" or killer.random.random() < 0.15:
                killer.finish(root)
                root, ended = killer.begun(), ended + 1
        killer.finish(root)
    print(
        f"{kills} kills ({dict(killer.kinds)}), of which {killer.hits} left an interrupted "
        f"branch; {ended + 1} threads have ended"
    )


def test_when_the_root_is_killed_its_branches_and_their_agents_end_and_exec_recovers_them(
    tree: Rig,
) -> None:
    tree.command_agents("long", parallel=8)
    started = tree.uwf(
        "thread", "start", "deep", "-p", task(*[""] * 8), "--agent", "worker/writer=long"
    )
    root = started.document["thread"]
    process = tree.start_uwf("thread", "exec", root, "--until-done")
    assert eventually(lambda: len(list(tree.pids.glob("[0-9]*"))) >= 4 * 8)
    process.kill()
    process.communicate(timeout=SECONDS)
    assert eventually(lambda: not tree.living(), 15), tree.living()
    (tree.pids / "enough").touch()
    with tree.client() as uwf:
        outcome = uwf.exec(root, until_done=True)
        assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome
        assert not tree.living()
        for branch in call_of(joined(uwf, root))["branches"]:
            first = uwf.steps(branch["thread"])[1]["step"]
            [failed] = uwf._engine.store.payload(first)["previousAttempts"]
            assert uwf._engine.store.payload(failed)["failure"]["kind"] == "interrupted"
        assert miscounted(uwf, root) is None
        assert uwf.verify()["valid"]
