"""What a step costs in waiting for the disk, and in which order things become durable."""

import re
import shutil
import subprocess

import pytest
from rig import AGAIN, DONE, SECONDS, Rig

STEPS = 20
SYNCED = re.compile(r"\b(fsync|fdatasync|msync)\((\d+)")
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def syncs(rig: Rig, thread: str, steps: int) -> list[str]:
    """The syncs of one `thread exec -c STEPS`, in their order."""
    trace = rig.root / "trace"
    strace = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,msync", "-o", str(trace)]
    done = subprocess.run(
        [*strace, *rig.command("thread", "exec", thread, "-c", str(steps))],
        cwd=rig.folder,
        env=rig.env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if "ptrace" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("this machine allows no tracing")
    assert done.returncode == 0, done.stderr
    return [line for line in trace.read_text().splitlines() if SYNCED.search(line)]


@needs_strace
def test_a_step_waits_for_the_disk_once(rig: Rig) -> None:
    rig.play({**DONE, "turns": ["one", "two"]}, AGAIN, repeat=True)
    thread = rig.start()
    one, many = len(syncs(rig, thread, 1)), len(syncs(rig, thread, STEPS))
    print(f"{one} syncs for one step, {many} for {STEPS}")
    assert one <= 3
    assert (many - one) / (STEPS - 1) <= 1.2
