"""What an experiment found, and the table of all of them."""

import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
BROKE = "the experiment itself"
"""Instead of a case, where an experiment could not be made to its end."""


_TINY = 6


class Effort(NamedTuple):
    """How much is tried.

    Attributes:
        seed: what is random follows from it alone.
        share: 1.0 is what the promises are stated for; less is quicker.
        workers: how many processes work at once.
        tiny: a few of each are enough.
        scenes: only these scenarios of the rows that have some; all if there are none.
    """

    seed: int
    share: float
    workers: int
    tiny: bool = False
    scenes: tuple[str, ...] = ()

    def chosen(self, scenes: Sequence[str]) -> Sequence[str]:
        """Those of the scenarios that are wanted."""
        return [name for name in scenes if not self.scenes or name in self.scenes]

    def of(self, whole: int, least: int = 1) -> int:
        """This share of `whole`, rounded up, but `least`."""
        return max(min(least, _TINY) if self.tiny else least, -int(-whole * self.share // 1))

    def sample(self, items: Sequence[Item], least: int) -> Sequence[Item]:
        """This share of the items, `least` of them if there are as many; all in the long form."""
        wanted = min(len(items), self.of(len(items), least))
        if wanted == len(items):
            return items
        return [
            items[index] for index in sorted(Random(self.seed).sample(range(len(items)), wanted))
        ]


class Case(NamedTuple):
    """One thing that was made to go wrong; `fault` is what it did to uwf, None if nothing."""

    name: str
    fault: str | None = None


class Skipped(Exception):
    """This experiment cannot be made here; the message says why."""


class Experiment(NamedTuple):
    """A row of the table: what goes wrong, and how often at least in the long form."""

    what: str
    least: int
    run: Callable[[Effort], Iterable[Case]]


class Row(NamedTuple):
    """What an experiment found."""

    what: str
    tried: int
    faults: list[Case]
    seed: int
    seconds: float
    skipped: str = ""


def conduct(experiment: Experiment, effort: Effort) -> Row:
    """Make an experiment."""
    started, count, faults, skipped = time.monotonic(), 0, list[Case](), ""
    try:
        for case in experiment.run(effort):
            count += 1
            if case.fault is not None:
                faults.append(case)
                print(f"\nFAILED: {case.name}: {case.fault}", file=sys.stderr, flush=True)
    except Skipped as reason:
        skipped = str(reason)
    except Exception as error:  # the other rows are made all the same
        traceback.print_exc()
        faults.append(Case(BROKE, f"{type(error).__name__}: {error}"))
    if not (skipped or effort.scenes) and count < effort.of(experiment.least):
        faults.append(Case("all", f"only {count} of {effort.of(experiment.least)} were tried"))
    seconds = time.monotonic() - started
    return Row(experiment.what, count, faults, effort.seed, seconds, skipped)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The table, and below it the faults (the first few of each row)."""
    rows = list(rows)
    yield f"{'what':<34} {'count':>7} {'failures':>9} {'seed':>11} {'seconds':>8}"
    for row in rows:
        failures = "skipped" if row.skipped else f"{len(row.faults):,}"
        yield (f"{row.what:<34} {row.tried:>7,} {failures:>9} {row.seed:>11} {row.seconds:>8.1f}")
    count, faults = sum(row.tried for row in rows), sum(len(row.faults) for row in rows)
    yield f"{'all':<34} {count:>7,} {faults:>9,} {'':>11} {sum(r.seconds for r in rows):>8.1f}"
    for row in rows:
        if row.skipped:
            yield f"skipped: {row.what}: {row.skipped}"
        for case in row.faults[:10]:
            yield f"FAILED tests/faults::{row.what} - {case.name}: {case.fault}"
        if len(row.faults) > 10:
            yield f"FAILED tests/faults::{row.what} - … and {len(row.faults) - 10} more"
