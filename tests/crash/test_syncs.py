"""What the system is asked for: how often a step waits for the disk, who takes which lock."""

import re
import shutil
import subprocess

import pytest
from rig import AGAIN, DONE, GOOD, SECONDS, Rig

STEPS = 20
SYNCED = re.compile(r"\b(fsync|fdatasync|msync)\((\d+)")
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def traced(rig: Rig, calls: str, *arguments: str) -> list[str]:
    """The system calls of these names that a `uwf` and all its threads make, in their order."""
    trace = rig.root / "trace"
    strace = ["strace", "-f", "-y", "-qq", "-e", f"trace={calls}", "-o", str(trace)]
    done = subprocess.run(
        [*strace, *rig.command(*arguments)],
        cwd=rig.folder,
        env=rig.env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if "ptrace" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("this machine does not allow strace")
    assert done.returncode == 0, done.stderr
    return trace.read_text().splitlines()


def syncs(rig: Rig, thread: str, steps: int) -> int:
    """How often `thread exec -c STEPS` waits for the disk."""
    words = ("thread", "exec", thread, "-c", str(steps))
    return sum(1 for line in traced(rig, "fsync,fdatasync,msync", *words) if SYNCED.search(line))


@needs_strace
def test_a_step_waits_for_the_disk_once(rig: Rig) -> None:
    rig.play({**DONE, "turns": ["one", "two"]}, AGAIN, repeat=True)
    thread = rig.start()
    one, many = syncs(rig, thread, 1), syncs(rig, thread, STEPS)
    print(f"{one} syncs for one step, {many} for {STEPS}")
    assert one <= 3
    assert (many - one) / (STEPS - 1) <= 1.2


@needs_strace
def test_asking_never_takes_a_threads_lock(rig: Rig) -> None:
    """A watcher that tries the lock makes an exec fail that comes in that very moment."""
    rig.play(DONE, AGAIN, repeat=True)
    thread = rig.start()
    locked = re.compile(r"store\.db\.lock>, F_(OFD_)?SETLK")
    assert any(map(locked.search, traced(rig, "fcntl", "thread", "exec", thread)))
    for words in (
        ("thread", "show", thread),
        ("thread", "list"),
        ("thread", "read", thread),
        ("thread", "wait", thread),
        ("step", "turns", thread, "--live"),
    ):
        asked = traced(rig, "fcntl", *words)
        assert any("store.db.lock" in line for line in asked) or words[1] in ("read", "turns")
        assert not any(map(locked.search, asked)), words


CALLING = """\
version: 1
name: calling
roles:
  work: {workflow: loop}
graph:
  $START:
    new: {role: work, prompt: Begin.}
    resume: {role: work, prompt: Again.}
  work:
    good: {role: $END, prompt: Done.}
"""


@needs_strace
def test_the_last_step_of_a_call_and_the_step_of_its_caller_wait_for_the_disk_once(
    rig: Rig,
) -> None:
    rig.workflow("calling", CALLING)
    rig.play(DONE, GOOD)
    rig.uwf("workflow", "add", ".workflow/calling.yaml")
    thread = rig.uwf("thread", "start", "calling", "-p", "task").document["thread"]
    first, last = syncs(rig, thread, 1), syncs(rig, thread, 1)
    print(f"{first} syncs for a step in a call, {last} for its last one with the caller's")
    assert rig.uwf("thread", "show", thread).document["status"] == "completed"
    assert last <= first
