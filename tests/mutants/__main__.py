"""`nox -s mutants`: plant one bug after the other, and see that its check notices.

First every edit must apply and every check exist (`--check` does only that). Then every check runs
on an unchanged copy, where it must pass; then, for each bug, only the check that is named with it.
1 if a bug is not noticed or cannot be planted, or a check fails without one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.faults.table import BROKE
from tests.mutants import at_random
from tests.mutants.mutant import ROOT, ROW, Copy, Mutant
from tests.mutants.planted import MUTANTS
from tests.mutants.random_bug import planted

_SECONDS = 300
PLACES = ("tests",)
_TESTS_FAILED = 1


class Seen(NamedTuple):
    """What a check said of a bug: `word` is `yes`, `NO`, or why that cannot be said."""

    mutant: Mutant
    word: str
    seconds: float
    output: str


def main(words: list[str]) -> int:
    """Make the run that the words ask for."""
    parser = argparse.ArgumentParser(prog="nox -s mutants --", description=__doc__)
    parser.add_argument("--only", nargs="*", metavar="WORD", help="whose area or text holds a word")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", action="store_true", help="print what the checks print")
    parser.add_argument("--check", action="store_true", help="only whether each can be planted")
    parser.add_argument("--random", type=int, metavar="N", help="N bugs at random places instead")
    parser.add_argument("--seed", type=int, default=1, help="which places")
    parser.add_argument("--below", default="", metavar="PATH", help="only places of this folder")
    parser.add_argument("--tests", nargs="*", default=PLACES, help="the tests that may notice")
    parser.add_argument("--record", type=Path, help="keep, or take again, who reaches which place")
    parser.add_argument(
        "--kinds", nargs="*", default=(), metavar="KIND", help="only of these kinds"
    )
    parser.add_argument("--results", type=Path, help="keep each verdict here, and ask it no more")
    wanted = parser.parse_args(words)
    if wanted.random:
        bugs = planted(wanted.random, wanted.seed, wanted.below, wanted.kinds)
        kept = at_random.Kept(wanted.results)
        asked = (wanted.tests, wanted.workers, wanted.record)
        return at_random.run(bugs, wanted.seed, *asked, kept)
    chosen = [
        each
        for each in MUTANTS
        if not wanted.only or any(word in f"{each.area} {each.what}" for word in wanted.only)
    ]
    stale = list(faults(chosen))
    if stale or wanted.check:
        print("\n".join(stale) or f"{len(chosen)} bugs can be planted")
        return 1 if stale else 0
    with tempfile.TemporaryDirectory(prefix="uwf-mutants-") as name:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(wanted.workers):
            copies.put(Copy(Path(name).resolve() / str(number)))
        with ThreadPoolExecutor(wanted.workers) as pool:
            unfit = dict(pool.map(lambda sees: _unfit(copies, sees), _checks(chosen)))
            found = []
            for each in pool.map(lambda mutant: _look(copies, mutant), chosen):
                found.append(each)
                print(f"mutants: {each.mutant.what}: {each.word}", file=sys.stderr, flush=True)
    for each in found:
        if wanted.show or each.word not in ("yes", "NO"):
            print(each.mutant.what, each.output, sep="\n", file=sys.stderr)
    print("\n".join(table(found, unfit)))
    return 1 if any(unfit.values()) or any(each.word != "yes" for each in found) else 0


def faults(mutants: Iterable[Mutant]) -> Iterator[str]:
    """Each bug that cannot be planted any more, or whose check is gone, and why."""
    return (fault for each in mutants if (fault := each.fault()) is not None)


def _checks(mutants: Iterable[Mutant]) -> list[str]:
    return sorted({each.sees for each in mutants})


def _unfit(copies: "SimpleQueue[Copy]", sees: str) -> tuple[str, str]:
    """A check, and why it proves nothing: it fails without any bug. Empty if it is fit."""
    copy = copies.get()
    try:
        done = check(copy, sees)
        return sees, "" if done.returncode == 0 else done.stdout[-2_000:] + done.stderr[-2_000:]
    except subprocess.TimeoutExpired:
        return sees, f"it did not end within {_SECONDS} s"
    finally:
        copies.put(copy)


def _look(copies: "SimpleQueue[Copy]", mutant: Mutant) -> Seen:
    copy, started = copies.get(), time.monotonic()
    try:
        with copy.planted(mutant):
            done = check(copy, mutant.sees)
        word, output = judged(mutant.sees, done), done.stdout[-2_000:] + done.stderr[-2_000:]
    except subprocess.TimeoutExpired:
        word, output = "yes", "it hung"
    finally:
        copies.put(copy)
    return Seen(mutant, word, time.monotonic() - started, output)


def check(copy: Copy, sees: str) -> "subprocess.CompletedProcess[str]":
    """Run a check on a copy."""
    if sees.startswith(ROW):
        row = sees.removeprefix(ROW).split()
        words = ["tests.faults", "--seed", "1", "--workers", "1", "--only", *row]
    else:
        words = ["pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", sees]
    return subprocess.run(
        [str(copy.python), "-m", *words],
        cwd=ROOT, env=copy.variables(), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=_SECONDS, check=False,
    )  # fmt: skip


def judged(sees: str, done: "subprocess.CompletedProcess[str]") -> str:
    """Whether a check has noticed: not that it ended badly, but that it names the fault."""
    if done.returncode == 0:
        return "NO"
    if sees.startswith(ROW):
        told = (each for each in done.stdout.splitlines() if each.startswith("FAILED "))
        said = any(BROKE not in each for each in told) or "is not sound" in done.stderr
        return "yes" if said else f"ended with {done.returncode}"
    return "yes" if done.returncode == _TESTS_FAILED else f"ended with {done.returncode}"


def table(found: Sequence[Seen], unfit: dict[str, str]) -> Iterator[str]:
    """The bugs by area, who sees each, whether, and the seconds; then what is not as it must be."""
    for each in found:
        what = f"{each.mutant.area}: {each.mutant.what}"
        yield f"{what:<70} {each.word:<6} {each.seconds:>6.1f}  {each.mutant.sees}"
    seen = sum(each.word == "yes" for each in found)
    share = 100 * seen // len(found) if found else 0
    yield f"{len(found)} bugs planted, {seen} seen: {share} %"
    for sees, why in unfit.items():
        if why:
            yield f"UNFIT: {sees} fails without any bug:\n{why}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
