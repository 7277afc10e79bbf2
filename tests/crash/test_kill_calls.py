"""`kill -9` at any moment of a run whose threads call others two levels deep, and processes that
run a called thread beside its caller: each call is recorded once, and the end is the same.

A third of `KILLS` (see `test_kill.py`) is the number of kills; `UWF_KILL_SEED` repeats a run.
"""

import json
import random
import time
from collections.abc import Iterable
from itertools import count

import pytest
from rig import SECONDS, Rig, eventually
from test_kill import KILLS, SEED, first_line
from tests.core.calling import open_threads
from tests.core.engine.call_worlds import route
from tests.faults.calls import ALL, miscalled

from uwf_core.client import Client

INNER = """\
version: 1
name: inner
roles:
  writer:
    goal: Write it.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  checker:
    goal: Check it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: good}, word: {type: string}}, required: [$status, word]}
        - {properties: {$status: {const: bad}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: There is more to do.}
  writer:
    done: {role: checker, prompt: Check.}
  checker:
    good: {role: $END, prompt: Done.}
    bad: {role: writer, prompt: Once more.}
"""
CALLER = """\
version: 1
name: NAME
roles:
  work: {workflow: BELOW}
  NAME-judge:
    goal: Judge it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: good}, word: {type: string}}, required: [$status, word]}
        - {properties: {$status: {const: bad}}, required: [$status]}
graph:
  $START:
    new: {role: work, prompt: Begin.}
    resume: {role: work, prompt: Again.}
  work:
    good: {role: NAME-judge, prompt: "Judge: {{word}}"}
  NAME-judge:
    good: {role: $END, prompt: Done.}
    bad: {role: work, prompt: Do it again.}
"""
LEAST_KILLS = 5
"""So many must hit a run: below that nothing is proved yet."""


@pytest.fixture
def tree(rig: Rig) -> Rig:
    """A rig whose workflow `top` calls `middle`, which calls `inner`; each is called again."""
    rig.workflow("inner", INNER)
    for name, below in (("middle", "inner"), ("top", "middle")):
        rig.workflow(name, CALLER.replace("NAME", name).replace("BELOW", below))
    rig.script(
        [
            {"role": "writer", "output": {"$status": "done"}, "turns": ["a", "b"], "delayMs": 30},
            *_judged("checker", "bad", "good", "bad", "good"),
            *_judged("middle-judge", "bad", "good"),
            *_judged("top-judge", "bad", "good"),
        ],
        by_role=True,
    )
    return rig


def _judged(role: str, *statuses: str) -> Iterable[dict[str, object]]:
    """What a role says, one visit after the other; the last one again and again."""
    for number, status in enumerate(statuses):
        output = {"$status": status, "word": f"{role} {number}"}
        yield {"role": role, "output": output, "delayMs": 30}


def begun(uwf: Client) -> str:
    """A new root."""
    return uwf.start("top", "The task.")["thread"]


def check_end(uwf: Client, root: str, smooth: object) -> None:
    """The thread has ended as one that nobody disturbed, with all calls recorded."""
    assert uwf.show(root)["status"] == "completed"
    assert miscalled(uwf) is None
    assert [each.name for each in uwf._engine.store.variables("@uwf/call/")] == []
    assert route(uwf, root) == smooth
    found = uwf.verify()
    assert found["valid"], found["problems"]


def steps_of(uwf: Client) -> set[str]:
    """The steps of all threads."""
    return {row["step"] for each in uwf.list(ALL) for row in uwf.steps(each["thread"])}


def undisturbed(uwf: Client) -> object:
    """The outputs and the route of a run without kills."""
    root = begun(uwf)
    assert uwf.exec(root, until_done=True).document["done"]
    return route(uwf, root)


class Killer:
    """Kills one exec of a root after the other, and looks at what each death has left."""

    def __init__(self, rig: Rig, uwf: Client, chance: random.Random) -> None:
        self.rig, self.uwf, self.random = rig, uwf, chance
        self.hits = 0
        started = time.monotonic()
        assert rig.uwf("thread", "exec", begun(uwf), "--until-done").exit_code == 0
        self.usual_seconds = time.monotonic() - started

    def kill(self, root: str) -> bool:
        """Run the root, and kill the process at a random moment; whether it was still alive."""
        before = steps_of(self.uwf)
        process = self.rig.start_uwf("thread", "exec", root, "--until-done")
        if self.random.random() < 0.3:
            time.sleep(self.random.uniform(0, self.usual_seconds))
        else:  # most of the time goes into starting up: aim at the steps themselves
            first_line(process)
            time.sleep(self.random.uniform(0, 0.25))
        process.kill()
        _, said = process.communicate(timeout=SECONDS)
        assert process.returncode in (0, -9), said
        self._look(root, before)
        return process.returncode == -9

    def _look(self, root: str, before: set[str]) -> None:
        """Nothing is lost, nothing is called twice, nobody is said to run it."""
        uwf = self.uwf
        assert eventually(lambda: not any(each["running"] for each in uwf.list(ALL)))
        assert before <= steps_of(uwf)
        assert miscalled(uwf) is None
        shown = uwf.show(root)
        self.hits += shown["suspendReason"] == "interrupted"
        assert shown["status"] in ("idle", "completed") or shown["suspendReason"] == "interrupted"

    def go_on(self, root: str) -> None:
        """The next exec takes one step, of whichever thread is at work."""
        known = steps_of(self.uwf)
        outcome = self.uwf.exec(root)
        assert outcome.exit_code == 0, outcome.document
        [step] = outcome.document["steps"]
        assert step["step"] not in known
        assert step["step"] in steps_of(self.uwf)


@pytest.mark.timeout(240 + 30 * KILLS)
def test_a_run_with_calls_killed_at_any_moment_records_each_call_once_and_ends_the_same(
    tree: Rig,
) -> None:
    print(f"again with UWF_KILL_SEED={SEED}")
    with tree.client() as uwf:
        smooth = undisturbed(uwf)
        killer = Killer(tree, uwf, random.Random(SEED))
        kills, ended, root = 0, 0, begun(uwf)
        while kills < KILLS // 3 or not ended or killer.hits < LEAST_KILLS:
            kills += killer.kill(root)
            if uwf.show(root)["status"] != "completed":
                killer.go_on(root)
            if uwf.show(root)["status"] == "completed":
                check_end(uwf, root, smooth)
                root, ended = begun(uwf), ended + 1
        uwf.exec(root, until_done=True)
        check_end(uwf, root, smooth)
    print(f"{kills} kills, of which {killer.hits} hit a step; {ended + 1} threads have ended")


@pytest.mark.timeout(240 + 30 * KILLS)
def test_processes_that_run_a_called_thread_and_its_caller_at_once_lose_nothing(
    tree: Rig,
) -> None:
    print(f"again with UWF_KILL_SEED={SEED}")
    chance, codes, told = random.Random(SEED), list[int](), set[str]()
    with tree.client() as uwf:
        smooth = undisturbed(uwf)
        for _ in range(max(1, KILLS // 40)):
            root = begun(uwf)
            for _ in count():
                if uwf.show(root)["status"] == "completed":
                    break
                threads = open_threads(uwf, root)
                runs = [root, *[chance.choice(threads) for _ in range(2)]]
                processes = [
                    tree.start_uwf("thread", "exec", each, "-c", str(chance.randint(1, 2)))
                    for each in runs
                ]
                for process in processes:
                    out, err = process.communicate(timeout=SECONDS)
                    assert process.returncode in (0, 2, 75), err
                    assert "Traceback" not in err
                    codes.append(process.returncode)
                    if process.returncode == 0:
                        told |= {each["step"] for each in json.loads(out)["steps"]}
                assert told <= steps_of(uwf)
                assert miscalled(uwf) is None
            check_end(uwf, root, smooth)
    print({code: codes.count(code) for code in sorted(set(codes))})
    assert 0 in codes
    assert codes.count(0) < len(codes), "nobody met anybody"
