"""Many processes on one store: nobody loses anything, nobody sees "database is locked"."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from uwf_core.api.store import Holder

ME = Holder(os.getpid(), "start", "host", 1)

START = """
import json, os, sys, time
from uwf_core.api.store import Holder
from uwf_core.cas.store import Store
from uwf_core.errors import BusyError
from uwf_core.stores.open import open_backend
home, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = Store(open_backend("sqlite:store.db", home), lambda: int(time.time() * 1000))
me = Holder(os.getpid(), "start", "host", number)
def together(what="go"):
    open(f"{home}/{what}.{number}", "w").close()
    while sum(name.startswith(what + ".") for name in os.listdir(home)) < count:
        time.sleep(0.001)
"""


class Crowd:
    """Python processes that run the same text at the same time."""

    def __init__(self, home):
        self.home = home
        self.children = []

    def start(self, text, count):
        for number in range(count):
            argv = [sys.executable, "-c", START + text, str(self.home), str(number), str(count)]
            self.children.append(
                subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            )
        return self

    def results(self):
        """What each printed, as JSON; fails with the message of one that failed."""
        answers = [child.communicate(timeout=60) for child in self.children]
        for child, (_, errors) in zip(self.children, answers, strict=True):
            assert child.returncode == 0, errors
        return [json.loads(out) for out, _ in answers]

    def kill(self):
        """End all that still run."""
        for child in self.children:
            child.kill()
            child.wait()
            child.stdout.close()
            child.stderr.close()
        self.children = []


@pytest.fixture
def crowd(tmp_path):
    crowd = Crowd(tmp_path)
    yield crowd
    crowd.kill()


def test_sixteen_first_openings_at_once_make_one_store(crowd, open_store):
    crowd.start(
        """
together()
ref = store.put_text(f"from {number}")
store.set_variable(f"@uwf/thread/{number}", ref, {"status": "idle"}, None)
store.close()
print(json.dumps(ref))
""",
        16,
    )
    refs = crowd.results()
    store = open_store()
    assert len(store.variables("@uwf/thread/")) == 16
    assert store.present(refs) == set(refs)
    left = {each.name for each in crowd.home.iterdir() if not each.name.startswith("go.")}
    assert left == {"store.db", "store.db-wal", "store.db-shm", "store.db.lock"}


def test_of_those_who_move_a_name_at_once_exactly_one_wins_each_round(crowd, open_store):
    store = open_store()
    store.set_variable("@uwf/thread/A", store.put_text("start"), {"round": "-1"}, None)
    crowd.start(
        """
won = []
for round in range(12):
    mine = store.put_text(f"{number} {round}")
    seen = store.variable("@uwf/thread/A")
    together(f"round{round}")
    try:
        store.set_variable("@uwf/thread/A", mine, {"round": str(round)}, seen)
        won.append(round)
    except BusyError:
        pass
    together(f"over{round}")
store.close()
print(json.dumps(won))
""",
        6,
    )
    won = [number for results in crowd.results() for number in results]
    assert sorted(won) == list(range(12))
    assert store.variable("@uwf/thread/A").tags == {"round": "11"}


def test_no_increment_is_lost_and_nobody_is_told_that_the_store_is_locked(crowd, open_store):
    """Eight processes on eight threads of one store, and all of them on one more."""
    store = open_store()
    zero = store.put_text("0")
    store.set_variable("@uwf/all", zero, {"n": "0"}, None)
    crowd.start(
        """
own = None
together()
for turn in range(25):
    with store.transaction(durable=turn % 3 == 0):
        own = store.set_variable(
            f"@uwf/thread/{number}", store.put_text(f"{number} {turn}"), {"n": str(turn)}, own)
    while True:
        seen = store.variable("@uwf/all")
        try:
            store.set_variable("@uwf/all", seen.value, {"n": str(int(seen.tags["n"]) + 1)}, seen)
            break
        except BusyError as error:
            assert "another process changed" in error.message
store.close()
print(json.dumps(turn))
""",
        8,
    )
    crowd.results()
    assert store.variable("@uwf/all").tags == {"n": "200"}
    assert [each.tags["n"] for each in store.variables("@uwf/thread/")] == ["24"] * 8


def test_reading_works_and_is_never_half_while_others_write(crowd, open_store):
    """A writer moves two names together, over and over; a reader never sees them differ."""
    store = open_store()
    for name in "ab":
        store.set_variable(f"@uwf/{name}", store.put_text("x"), {"n": "0"}, None)
    crowd.start(
        """
together()
seen = {name: store.variable(f"@uwf/{name}") for name in "ab"}
while not os.path.exists(f"{home}/enough"):
    for durable in (True, False):
        with store.transaction(durable):
            for name in "ab":
                tags = {"n": str(int(seen[name].tags["n"]) + 1)}
                seen[name] = store.set_variable(f"@uwf/{name}", seen[name].value, tags, seen[name])
print(json.dumps(seen["a"].tags["n"]))
""",
        1,
    )
    looks = set()
    while crowd.children[0].poll() is None:
        found = store.variables("@uwf/")
        assert len({each.tags["n"] for each in found}) == 1
        looks.add(found[0].tags["n"])
        if len(looks) > 20:
            (crowd.home / "enough").touch()
    (last,) = crowd.results()
    assert {each.tags["n"] for each in store.variables("@uwf/")} == {last}


def test_of_those_who_take_a_lock_at_once_exactly_one_gets_it(crowd, open_store):
    store = open_store()
    crowd.start(
        """
together()
got = 0
for _ in range(40):
    try:
        handle = store.lock("@uwf/thread/A", me)
    except BusyError:
        continue
    with open(f"{home}/inside", "x"):  # fails if another one is in
        got += 1
    os.unlink(f"{home}/inside")
    handle.release()
store.close()
print(json.dumps(got))
""",
        5,
    )
    assert sum(crowd.results()) >= 1
    assert store.held() == {}


def test_watching_a_lock_never_makes_taking_it_fail(crowd, open_store):
    store = open_store()
    store.put_text("x")
    crowd.start(
        """
together()
for _ in range(150):
    store.lock("@uwf/thread/A", me).release()
store.close()
print(json.dumps("never busy"))
""",
        1,
    )
    while crowd.children[0].poll() is None:
        store.holder("@uwf/thread/A")
        store.held()
    assert crowd.results() == ["never busy"]


def held_by(child, store, name):
    """Wait until `child` holds the lock; its holder."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        holder = store.holder(name)
        if holder is not None and holder.pid == child.pid:
            return holder
        time.sleep(0.01)
    raise AssertionError("the lock was never taken")


def test_a_lock_does_not_outlive_its_holder_in_a_program_that_it_started(crowd, open_store):
    """The child of the killed one runs on, and holds nothing."""
    store = open_store()
    crowd.start(
        """
import subprocess
handle = store.lock("@uwf/thread/A", me)
child = subprocess.Popen(["sleep", "30"], close_fds=False)
print(child.pid, flush=True)
time.sleep(60)
""",
        1,
    )
    (parent,) = crowd.children
    held_by(parent, store, "@uwf/thread/A")
    grandchild = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait()
        os.kill(grandchild, 0)
        assert store.holder("@uwf/thread/A") is None
        store.lock("@uwf/thread/A", ME).release()
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_many_threads_are_found_held_at_the_cost_of_those_that_are(crowd, open_store):
    """Among 2,000 names that were locked once, the three that are held now."""
    store = open_store()
    with store.transaction(durable=False):
        for number in range(2000):
            store.lock(f"@uwf/thread/{number}", ME).release()
    handles = [store.lock(f"@uwf/thread/{number}", ME) for number in (3, 700, 1999)]
    watcher = open_store()
    started = time.process_time()
    assert set(watcher.held()) == {"@uwf/thread/3", "@uwf/thread/700", "@uwf/thread/1999"}
    assert time.process_time() - started < 0.1
    for handle in handles:
        handle.release()
    assert watcher.held() == {}


def test_a_process_killed_between_writing_and_committing_leaves_nothing(crowd, open_store):
    store = open_store()
    kept = store.put_text("kept")
    first = store.set_variable("@uwf/thread/A", kept, {}, None)
    crowd.start(
        """
seen = store.variable("@uwf/thread/A")
with store.transaction():
    ref = store.put_text("never committed")
    store.set_variable("@uwf/thread/A", ref, {"status": "new"}, seen)
    print(ref, flush=True)
    time.sleep(60)
""",
        1,
    )
    ref = crowd.children[0].stdout.readline().strip()
    crowd.children[0].kill()
    crowd.children[0].wait()
    assert not store.has(ref)
    assert store.variable("@uwf/thread/A") == first
    assert store.put_text("never committed") == ref
    assert open_store().has(ref)


def test_what_was_acknowledged_survives_kill_9_at_any_moment(crowd, open_store):
    """Durable or not: what a process was told is stored is there after it is killed."""
    for round in range(6):
        crowd.start(
            f"""
head = store.variable("@uwf/thread/{round}")
for turn in range(100000):
    with store.transaction(durable=turn % 2 == 0):
        ref = store.put_text(f"{round} {{turn}}")
        head = store.set_variable("@uwf/thread/{round}", ref, {{"n": str(turn)}}, head)
    print(turn, flush=True)
""",
            1,
        )
        (child,) = crowd.children
        lines = []
        reader = threading.Thread(target=lambda c=child, kept=lines: kept.extend(c.stdout))
        reader.start()
        while not lines:
            time.sleep(0.005)
        time.sleep(0.02 * round)
        child.kill()
        child.wait()
        reader.join()
        crowd.kill()
        acknowledged = int(lines[-1])
        store = open_store()
        head = store.variable(f"@uwf/thread/{round}")
        assert int(head.tags["n"]) >= acknowledged
        assert store.text(head.value) == f"{round} {head.tags['n']}"
        store.close()
