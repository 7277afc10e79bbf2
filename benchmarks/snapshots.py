"""Snapshots beside git: `python -m benchmarks.snapshots [FILES…]` (by hand; 100,000 take minutes).

The first snapshot is compared with `git init && git add -A && git write-tree`, a later one with
`git add -A && git write-tree`, both after a change of one file and without one: in a repository as
git makes it (SHA-1), for which the target holds, and in one with SHA-256, which uwf uses. Each
round measures all of them once; a figure is the median of the rounds. `cpu` is the time of the
processors, which other programs disturb least. Only uwf waits until the files are on the disk.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from uwf_core.files.snapshot import record

TARGET = 1.3
"""How many times as much as git a snapshot may cost."""
FORMATS = ("sha1", "sha256")
THREAD = "01JABCDEFGHJKMNPQRSTVWXYZ0"
COUNTS = (1_000, 10_000, 100_000)
FIRST_ROUNDS = {1_000: 5, 10_000: 3, 100_000: 1}
LATER_ROUNDS = 15
PER_FOLDER = 20


def fill(folder: Path, count: int) -> None:
    """Write files of 200 to 3,000 random bytes."""
    source = random.Random(1)
    for number in range(count):
        place = folder / f"d{number // 1_000:03}" / f"s{number // PER_FOLDER % 50:02}"
        if number % PER_FOLDER == 0:
            place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number}").write_bytes(source.randbytes(source.randint(200, 3_000)))


class Cost(NamedTuple):
    """Seconds by the clock, and of the processors."""

    clock: float
    cpu: float


def cost(call: Callable[[], object]) -> Cost:
    os.sync()  # else the one waits for what the other wrote
    begun, used = time.perf_counter(), _cpu()
    call()
    return Cost(time.perf_counter() - begun, _cpu() - used)


def _cpu() -> float:
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, who))


class All:
    """A folder, and where git and uwf record it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder, self._root = folder, root
        for name in (*FORMATS, "home"):
            shutil.rmtree(root / name, ignore_errors=True)
            (root / name).mkdir(mode=0o700)

    def git(self, name: str, *, first: bool = False) -> None:
        env = {**os.environ, "GIT_DIR": f"{self._root / name}", "GIT_WORK_TREE": f"{self._folder}"}
        words = (("init", "-q", f"--object-format={name}"),) if first else ()
        for command in (*words, ("add", "-A"), ("write-tree",)):
            subprocess.run(
                ("git", *command), cwd=self._folder, env=env, check=True, capture_output=True
            )

    def uwf(self) -> None:
        found = record(str(self._root / "home"), THREAD, str(self._folder))
        assert found["tree"] is not None, found["reason"]

    def costs(self, *, first: bool = False) -> dict[str, Cost]:
        """The costs of each, in a random order."""
        calls: dict[str, Callable[[], None]] = {
            **{name: partial(self.git, name, first=first) for name in FORMATS},
            "uwf": self.uwf,
        }
        return {name: cost(calls[name]) for name in random.sample([*calls], len(calls))}


def measure(root: Path, count: int) -> None:
    """Print a line for each figure of a number of files."""
    folder = root / "folder"
    folder.mkdir()
    fill(folder, count)
    rounds: dict[str, list[dict[str, Cost]]] = {"first": [], "changed": [], "unchanged": []}
    for _ in range(FIRST_ROUNDS.get(count, 1)):
        places = All(root, folder)
        rounds["first"].append(places.costs(first=True))
    changed = folder / "d000" / "s00" / "f1"
    for number in range(LATER_ROUNDS):
        changed.write_text(f"{number}\n")
        rounds["changed"].append(places.costs())
        rounds["unchanged"].append(places.costs())
    for what, found in rounds.items():
        for kind in Cost._fields:
            show(f"{count:>7} {what:<9} {kind:<5}", found, kind)
    shutil.rmtree(folder)


def show(head: str, rounds: list[dict[str, Cost]], kind: str) -> None:
    """Print the medians, and how many times as much uwf costs."""
    by = {name: median(getattr(each[name], kind) for each in rounds) for name in rounds[0]}
    figures = "  ".join(f"git ({name}) {by[name]:8.3f} s" for name in FORMATS)
    ratios = " ".join(f"{by['uwf'] / max(by[name], 0.001):5.2f}" for name in FORMATS)
    print(f"{head} {figures}  uwf {by['uwf']:8.3f} s  x {ratios}", flush=True)


def main(words: list[str]) -> None:
    print(f"target: {TARGET} x git (sha1)")
    for count in map(int, words or COUNTS):
        with TemporaryDirectory(prefix="uwf-bench-") as root:
            measure(Path(root), count)


if __name__ == "__main__":
    main(sys.argv[1:])
