"""Measuring processes: time in interleaved rounds, peak memory, syncs."""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

PYTHON = [sys.executable, "-c", "pass"]
UWF = str(Path(sys.executable).with_name("uwf"))
BASE = "py"

# In a process of its own, because a child inherits the peak of the process that spawns it.
_PEAK = """
import json, os, sys
nothing = os.open(os.devnull, os.O_RDWR)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, nothing, 1)])
_, status, usage = os.wait4(pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_maxrss]))
"""


class Case(NamedTuple):
    """A command to time: its words, its folder, its environment."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]

    def run(self) -> None:
        """Run it once.

        Raises:
            RuntimeError: it did not end with 0; a failing command must not look fast.
        """
        done = subprocess.run(
            self.argv,
            cwd=self.cwd,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if done.returncode != 0:
            words = " ".join(self.argv)
            raise RuntimeError(f"{words}: exit {done.returncode}: {done.stderr.decode()}")

    def seconds(self) -> float:
        """How long one run takes."""
        started = time.perf_counter()
        self.run()
        return time.perf_counter() - started

    def cpu_seconds(self) -> float:
        """The processor time of one run, with what it starts."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interleaved(
    cases: Mapping[str, Case], rounds: int, seconds: Callable[[Case], float] = Case.seconds
) -> dict[str, list[float]]:
    """The seconds of each case in each round, those of `python -c pass` under `BASE`.

    Every round begins at another case, so that none is always the one after the slowest.
    """
    first = next(iter(cases.values()))
    every = {BASE: Case(PYTHON, first.cwd, first.environment), **cases}
    for case in every.values():
        case.run()  # byte code and the disk's cache, for all alike
    names = list(every)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            times[name].append(seconds(every[name]))
    return times


def ratio(times: Mapping[str, list[float]], name: str, base: str = BASE) -> float:
    """The median over the rounds of a case's time to that of `base` in the same round."""
    return median(mine / its for mine, its in zip(times[name], times[base], strict=True))


def peak_megabytes(case: Case) -> float:
    """The peak resident size of one run, in MB of 1,000,000 bytes."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _PEAK, *case.argv],
        cwd=case.cwd,
        env=dict(case.environment),
        capture_output=True,
        check=True,
    )
    code, size = json.loads(done.stdout)
    if code != 0:
        raise RuntimeError(f"{' '.join(case.argv)}: exit {code}: {done.stderr.decode()}")
    bytes_each = 1 if sys.platform == "darwin" else 1024
    return float(size * bytes_each / 1e6)


def syncs(case: Case, log: Path) -> int | None:
    """How often one run waits for the disk; None where there is no strace that may look."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    calls = "trace=fsync,fdatasync,msync,sync_file_range,sync,syncfs"
    traced = case._replace(argv=[strace, "-f", "-qq", "-o", str(log), "-e", calls, *case.argv])
    try:
        traced.run()
    except RuntimeError:
        return None
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return sum("sync(" in line and "resumed" not in line for line in lines)


def one_sync_ms(folder: Path, rounds: int = 50) -> float:
    """What the disk takes for one fdatasync after 4 kB were appended: median, in ms."""
    descriptor = os.open(folder / "sync-probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sync = getattr(os, "fdatasync", os.fsync)
    try:
        times = []
        for _ in range(rounds):
            os.write(descriptor, b"x" * 4096)
            started = time.perf_counter()
            sync(descriptor)
            times.append(time.perf_counter() - started)
    finally:
        os.close(descriptor)
    return median(times) * 1000
