"""`kill -9` at any moment: nothing that was said to be stored is lost, and nobody has to repair.

12 times, 300 in the long form (`python3 dev.py faults` without `--short`); `UWF_KILL_SEED` repeats
a run, and with CI set every run is the same.
"""

import os
import random
import re
import select
import signal
import subprocess
import time
from itertools import count

import pytest
from rig import AGAIN, DONE, SECONDS, Rig, children, end, eventually, kill_at_once
from tests.forms import form
from tests.step_parts import session_of
from tests.store_file import opened_store

KILLS = form(short=12, long=300)
_ANY = 5 if "CI" in os.environ else random.SystemRandom().randrange(1 << 31)
SEED = int(os.environ.get("UWF_KILL_SEED", _ANY))
SHARES = {"mock": 0.5, "kids": 0.25, "pack": 0.25}
FINISHED = re.compile(r"^#(\d+) \w+: (?:done|again) \(", re.MULTILINE)
TURNS = [f"turn {number}" for number in range(5)]


class Killer:
    """Kills one exec after the other, and looks at what each death has left."""

    def __init__(self, rig: Rig, agent: str, seed: int) -> None:
        self.rig, self.agent = rig, agent
        self.random = random.Random(seed)
        self.thread = rig.start("--agent", agent)
        self.interrupted = 0
        started = time.monotonic()
        assert rig.uwf("thread", "exec", self.thread, "-c", "2").exit_code == 0
        self.usual_seconds = time.monotonic() - started

    def kill_once(self) -> int:
        """Kill one exec at a random moment; the number of the last step that it told of."""
        process = self.rig.start_uwf("thread", "exec", self.thread, "-c", "2")
        said = ""
        if self.random.random() < 0.5:
            time.sleep(self.random.uniform(0, self.usual_seconds))
        else:  # most of the time goes into starting up: aim at the step itself
            said = first_line(process)
            time.sleep(self.random.uniform(0, 0.15 if self.agent == "mock" else 0.4))
        self._kill(process)
        _, rest = process.communicate(timeout=SECONDS)
        return max((int(number) for number in FINISHED.findall(said + rest)), default=0)

    def _kill(self, process: "subprocess.Popen[str]") -> None:
        """Of `pack` every other time with its reaper, which can then clean up nothing."""
        if self.agent == "pack" and self.random.random() < 0.5:
            process.send_signal(signal.SIGSTOP)  # no further one is started meanwhile
            kill_at_once(process.pid, *children(process.pid))
        else:
            process.kill()

    def look(self, seen: int) -> None:
        """Everything can be read, nothing is lost, nobody is said to run it."""
        with self.rig.client() as uwf:
            # Killed in the middle of starting a program, it leaves its files, locks among them, to
            # a child that is about to become that program: for a moment.
            assert eventually(lambda: uwf.show(self.thread)["running"] is None)
            shown = uwf.show(self.thread)
            assert shown["status"] in ("idle", "suspended"), shown
            if shown["status"] == "suspended":
                assert shown["suspendReason"] == "interrupted"
                self.interrupted += 1
            assert shown["steps"] >= seen, f"step {seen} was told of and is gone"
            assert [row["status"] for row in uwf.list()] == [shown["status"]]
            assert uwf.read(self.thread)
            assert uwf.turns(self.thread)
            numbers = [row["number"] for row in uwf.steps(self.thread)]
            assert numbers == list(range(len(numbers)))

    def go_on(self) -> int:
        """The next exec: done, and nothing of the killed one is left. The number of steps."""
        with self.rig.client() as uwf:
            before = uwf.show(self.thread)
            outcome = uwf.exec(self.thread)
            step = outcome.document["steps"][-1]
            assert outcome.exit_code == 0, outcome.document
            assert outcome.document["status"] == "idle"
            assert uwf.show(self.thread)["steps"] == before["steps"] + 1
            stored = uwf.step(step["step"] or "")
            if before["status"] == "suspended":
                assert stored["previousAttempts"], "the interrupted attempt is not told of"
        assert self.rig.living() == [], "left behind by a killed run, after the next command"
        return int(before["steps"]) + 1


@pytest.mark.parametrize("with_reaper", [False, True], ids=["uwf", "uwf-and-reaper"])
def test_what_a_killed_run_has_left_behind_is_ended_by_the_next_command(
    rig: Rig, with_reaper: bool
) -> None:
    rig.command_agents("long-pack")
    thread = rig.start("--agent", "long-pack")
    process = rig.start_uwf("thread", "exec", thread)
    assert eventually(lambda: rig.at_work(thread))
    reapers = children(process.pid)
    assert len(reapers) == 1
    kill_at_once(process.pid, *(reapers if with_reaper else []))
    end(process)
    assert rig.show(thread)["running"] is None
    if with_reaper:
        # One who was about to daemonise itself has a parent that is about to go.
        assert eventually(lambda: len(rig.living()) <= 4)
        assert len(rig.living()) == 4, "nobody is there to end them"
    (rig.pids / "enough").touch()
    went_on = rig.uwf("thread", "exec", thread)
    assert went_on.exit_code == 0, went_on.stderr
    assert rig.living() == []
    if with_reaper:
        assert "ended 4 processes" in went_on.stderr
    with rig.client() as uwf:
        step = uwf.step(went_on.document["steps"][0]["step"])
        used = uwf.step(step["previousAttempts"][0])["usage"]
        loose = [each.name for each in uwf._engine.store.variables(f"@uwf/turn/{thread}/")]
    assert (session_of(step)["id"], session_of(step)["continuation"]) == ("s-1", "continued")
    assert (used["inputTokens"], used["atLeast"]) == (7, ["inputTokens"])
    assert loose == [], "what the killed run said is a part of its attempt, and of nothing else"


@pytest.mark.timeout(120 + 30 * KILLS)
@pytest.mark.parametrize("agent", SHARES)
def test_a_run_killed_at_any_moment_loses_nothing_and_leaves_nothing_to_repair(
    rig: Rig, agent: str
) -> None:
    print(f"again with UWF_KILL_SEED={SEED}")
    rig.command_agents("kids", "pack")
    writer = {**DONE, "turns": TURNS, "delayMs": 10}
    rig.play(writer, {**AGAIN, "turns": TURNS}, repeat=True)
    killer = Killer(rig, agent, SEED)
    told = 0
    for number in count():
        if number >= KILLS * SHARES[agent] and killer.interrupted:
            break  # where no kill has hit a step, nothing is proved yet
        told = max(told, killer.kill_once())
        killer.look(told)
        told = killer.go_on()
    assert rig.uwf("thread", "exec", killer.thread, "-c", "3").exit_code == 0
    print(f"{killer.interrupted} kills have hit a step")
    _check_whole(rig, killer.thread)


def _check_whole(rig: Rig, thread: str) -> None:
    """The whole store is sound, and the home holds nothing that only a dead process knew."""
    with rig.client() as uwf:
        rows = uwf.steps(thread)[1:]
        steps = [uwf.step(row["step"]) for row in rows]
        assert [step["number"] for step in steps] == list(range(1, len(steps) + 1))
        assert len({step["step"] for step in steps}) == len(steps)
        names = [each.name for each in uwf.nodes.names("@uwf/")]
    begun = f"@uwf/event/{thread}/00000000.started"
    assert [name for name in names if thread in name] == [begun, f"@uwf/thread/{thread}"]
    with opened_store(rig.home / "store.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    litter = [file for file in rig.home.rglob("*") if file.is_file() and file.name[0] == "."]
    assert litter == []
    assert list(rig.home.glob("agents/*/calls/*")) == []


def first_line(process: "subprocess.Popen[str]") -> str:
    """The first character that a process says, as soon as it does."""
    assert process.stderr is not None
    ready, _, _ = select.select([process.stderr], [], [], SECONDS)
    return os.read(process.stderr.fileno(), 1).decode() if ready else ""
