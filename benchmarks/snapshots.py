"""Snapshots beside git: `python -m benchmarks.snapshots [FILES…]` (by hand; 100,000 take minutes).

The first snapshot is compared with `git init && git add -A && git write-tree`, a later one with
`git add -A && git write-tree`, both after a change of one file and without one. Each round measures
all of them once; a figure is the median of the rounds.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from uwf_core.files.snapshot import record

TARGET = 1.3
COUNTS = (1_000, 10_000, 100_000)
FIRST_ROUNDS = {1_000: 5, 10_000: 3, 100_000: 1}
LATER_ROUNDS = 9
PER_FOLDER = 20


def fill(folder: Path, count: int) -> None:
    """Write files of 200 to 3,000 random bytes."""
    source = random.Random(1)
    for number in range(count):
        place = folder / f"d{number // 1_000:03}" / f"s{number // PER_FOLDER % 50:02}"
        if number % PER_FOLDER == 0:
            place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number}").write_bytes(source.randbytes(source.randint(200, 3_000)))


def seconds(call: Callable[[], object]) -> float:
    os.sync()  # else the one waits for what the other wrote
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


class Both:
    """A folder, and where git and uwf record it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder, self._git, self._home = folder, root / "git", root / "home"
        for each in (self._git, self._home):
            shutil.rmtree(each, ignore_errors=True)
            each.mkdir(mode=0o700)

    def git(self, *, first: bool = False) -> None:
        env = {**os.environ, "GIT_DIR": str(self._git), "GIT_WORK_TREE": str(self._folder)}
        words = (("init", "-q"),) if first else ()
        for command in (*words, ("add", "-A"), ("write-tree",)):
            subprocess.run(
                ("git", *command), cwd=self._folder, env=env, check=True, capture_output=True
            )

    def uwf(self) -> None:
        found = record(str(self._home), "01JABCDEFGHJKMNPQRSTVWXYZ0", str(self._folder))
        assert found["tree"] is not None, found["reason"]


def measure(root: Path, count: int) -> None:
    """Print a line for each figure of a number of files."""
    folder = root / "folder"
    folder.mkdir()
    fill(folder, count)
    times: dict[str, list[tuple[float, float]]] = {"first": [], "later": [], "unchanged": []}
    for _ in range(FIRST_ROUNDS.get(count, 1)):
        both = Both(root, folder)
        by_git = seconds(lambda both=both: both.git(first=True))  # type: ignore[misc]
        times["first"].append((by_git, seconds(both.uwf)))
    changed = folder / "d000" / "s00" / "f1"
    for number in range(LATER_ROUNDS):
        changed.write_text(f"{number}\n")
        times["later"].append((seconds(both.git), seconds(both.uwf)))
        times["unchanged"].append((seconds(both.git), seconds(both.uwf)))
    for name, pairs in times.items():
        git, uwf = median(each for each, _ in pairs), median(each for _, each in pairs)
        verdict = "met" if uwf <= TARGET * git else f"missed: at most {TARGET}"
        print(
            f"{count:>7} {name:<9} git {git:8.3f} s  uwf {uwf:8.3f} s  {uwf / git:5.2f}  {verdict}"
        )
    shutil.rmtree(folder)


def main(words: list[str]) -> None:
    for count in map(int, words or COUNTS):
        with TemporaryDirectory(prefix="uwf-bench-") as root:
            measure(Path(root), count)


if __name__ == "__main__":
    main(sys.argv[1:])
