"""`python -m tests.mutants --random 300 --seed 1`: bugs at random places, each shown to the tests
that reach its place.

One run of the tests tells who reaches which place. Then each bug is planted, and the nearest tests
run until one fails. What no test notices is listed: 1 if more than a tenth of all is. What
`equivalent.py` lists is no bug, and is not planted.
"""

import json
import re
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

from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.mutant import ROOT, Copy
from tests.mutants.random_bug import RandomBug
from tests.mutants.reach import Reach, read_reach, recorded

WANTED = 0.9
_SECONDS = 240
_ROUNDS = (8, 24, 60)
"""How many tests are asked; the next round only where the one before noticed nothing."""


class Verdict(NamedTuple):
    """What the tests say of a bug.

    Attributes:
        kind: of which sort it is.
        what: the place, and what becomes of it.
        word: `yes`, `NO`, or `unreached`.
        by: the test that noticed it, or that it hung.
        asked: how many tests were asked.
        seconds: how long they took.
    """

    kind: str
    what: str
    word: str
    by: str
    asked: int
    seconds: float


class Kept:
    """Verdicts in a file of JSON lines, so that a run that was stopped goes on where it was."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        there = file is not None and file.is_file()
        lines = file.read_text("utf-8").splitlines() if file is not None and there else ()
        self._found = {each.what: each for each in (Verdict(**json.loads(line)) for line in lines)}

    def get(self, bug: RandomBug) -> Verdict | None:
        """What was said of a bug, if anything was."""
        return self._found.get(bug.what)

    def add(self, verdict: Verdict) -> None:
        """Keep what was said of one more."""
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(verdict._asdict(), ensure_ascii=False) + "\n")


def run(
    bugs: Sequence[RandomBug],
    seed: int,
    tests: Sequence[str],
    workers: int,
    record: Path | None,
    kept: Kept,
) -> int:
    """Plant the bugs and print what is noticed; `record` is that of an earlier run."""
    bugs = [bug for bug in bugs if (bug.path, bug.change) not in EQUIVALENT]
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
            numbered = enumerate(bugs)
            jobs = [pool.submit(_verdict, copies, reach, kept, *each) for each in numbered]
            found = []
            for job in jobs:
                found.append(job.result())
                told = f"{found[-1].word}: {found[-1].kind}: {found[-1].what}"
                print(f"mutants: {told}", file=sys.stderr, flush=True)
    print("\n".join(table(found, seed)))
    return 0 if sum(each.word == "yes" for each in found) >= WANTED * len(found) else 1


def _verdict(
    copies: "SimpleQueue[Copy]", reach: Reach, kept: Kept, number: int, bug: RandomBug
) -> Verdict:
    if (known := kept.get(bug)) is not None:
        return known
    started, nearest, asked, by = time.monotonic(), reach.nearest(number), 0, ""
    copy = copies.get()
    try:
        with copy.planted(bug):
            for most in _ROUNDS:
                tests = nearest[asked:most]
                asked += len(tests)
                if tests and (by := _noticed_by(copy, tests)):
                    break
    finally:
        copies.put(copy)
    word = "yes" if by else "NO" if nearest else "unreached"
    verdict = Verdict(bug.kind, bug.what, word, by, asked, round(time.monotonic() - started, 1))
    kept.add(verdict)
    return verdict


def _noticed_by(copy: Copy, tests: Sequence[str]) -> str:
    """The test that fails, or another sign of the bug; empty if there is none."""
    words = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            [str(copy.python), "-m", "pytest", *words],
            cwd=ROOT, env=copy.variables(), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it hangs"  # which no test allows
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else f"pytest ended with {done.returncode}"


def _kind(verdict: Verdict) -> str:
    return verdict.kind


def _distribution(verdict: Verdict) -> str:
    return verdict.what.partition("/")[0]


def table(found: Sequence[Verdict], seed: int) -> Iterator[str]:
    """How many of each kind and distribution were noticed, by which tests; then what was not."""
    yield f"{'':<22} {'bugs':>5} {'noticed':>8}"
    for name in (_kind, _distribution):
        bugs = Counter(map(name, found))
        noticed = Counter(name(each) for each in found if each.word == "yes")
        for key in sorted(bugs):
            yield f"{key:<22} {bugs[key]:>5} {noticed[key]:>8}"
    seen = sum(each.word == "yes" for each in found)
    share = f"{seen / max(len(found), 1):.1%}"
    yield f"{'all':<22} {len(found):>5} {seen:>8}  {share}, seed {seed}"
    for each in found:
        by = each.by or f"{each.asked} tests asked"
        yield f"{each.word}: {each.kind}: {each.what} ({by})"
