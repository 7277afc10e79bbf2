"""`python -m tests.mutants --random 300 --seed 1`: bugs at random places, each shown to the tests
that reach its place.

One run of the tests tells who reaches which place. Then each bug is planted, and the nearest tests
run until one fails. What no test notices is listed: 1 if more than a tenth of all is.
"""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutants.mutant import ROOT, Copy
from tests.mutants.random_bug import RandomBug, planted
from tests.mutants.reach import Reach, read_reach, recorded

WANTED = 0.9
_SECONDS = 240
_ROUNDS = (8, 24, 60)
"""How many tests are asked; the next round only where the one before noticed nothing."""
_TESTS_FAILED = 1


class Verdict(NamedTuple):
    """What the tests say of a bug: `word` is `yes`, `NO`, or `unreached`."""

    bug: RandomBug
    word: str
    asked: int
    seconds: float


def run(
    count: int, seed: int, paths: str, tests: Sequence[str], workers: int, record: Path | None
) -> int:
    """Plant so many bugs and print what is noticed; `record` is that of an earlier run."""
    bugs = planted(count, seed, paths)
    with tempfile.TemporaryDirectory(prefix="uwf-bugs-") as name:
        folder = Path(name).resolve()
        if record is None or not record.is_file():
            made = recorded(Copy(folder / "marked"), bugs, tests, workers)
            if record is not None:
                record.write_bytes(made.read_bytes())
            record = made
        reach = read_reach(record)
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(workers):
            copies.put(Copy(folder / str(number)))
        with ThreadPoolExecutor(workers) as pool:
            jobs = [pool.submit(_verdict, copies, reach, *each) for each in enumerate(bugs)]
            found = []
            for job in jobs:
                found.append(job.result())
                told = f"{found[-1].word}: {found[-1].bug.kind}: {found[-1].bug.what}"
                print(f"mutants: {told}", file=sys.stderr, flush=True)
    print("\n".join(table(found, seed)))
    return 0 if sum(each.word == "yes" for each in found) >= WANTED * len(found) else 1


def _verdict(copies: "SimpleQueue[Copy]", reach: Reach, number: int, bug: RandomBug) -> Verdict:
    started, nearest, asked = time.monotonic(), reach.nearest(number), 0
    copy = copies.get()
    try:
        with copy.planted(bug):
            for most in _ROUNDS:
                tests = nearest[asked:most]
                asked += len(tests)
                if tests and _notice(copy, tests):
                    return Verdict(bug, "yes", asked, time.monotonic() - started)
    finally:
        copies.put(copy)
    word = "NO" if nearest else "unreached"
    return Verdict(bug, word, asked, time.monotonic() - started)


def _notice(copy: Copy, tests: Sequence[str]) -> bool:
    words = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            [str(copy.python), "-m", "pytest", *words],
            cwd=ROOT, env=copy.variables(), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True  # it hangs, which no test allows
    return done.returncode != 0


def table(found: Sequence[Verdict], seed: int) -> Iterator[str]:
    """How many of each kind were noticed; then what was not."""
    kinds = Counter(each.bug.kind for each in found)
    noticed = Counter(each.bug.kind for each in found if each.word == "yes")
    yield f"{'kind':<16} {'bugs':>5} {'noticed':>8}"
    for kind in sorted(kinds):
        yield f"{kind:<16} {kinds[kind]:>5} {noticed[kind]:>8}"
    share = f"{sum(noticed.values()) / max(len(found), 1):.1%}"
    yield f"{'all':<16} {len(found):>5} {sum(noticed.values()):>8}  {share}, seed {seed}"
    for each in found:
        if each.word != "yes":
            yield f"{each.word}: {each.bug.kind}: {each.bug.what} ({each.asked} tests asked)"
