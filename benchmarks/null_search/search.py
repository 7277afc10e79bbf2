"""A search as a gate sees it: edits, tasks, and trials that cost something."""

from collections.abc import Callable, Collection, Iterable, Sequence
from random import Random
from typing import NamedTuple

from benchmarks.null_search.scores import Population, TaskScores

Differences = Sequence[float]


class Setup(NamedTuple):
    """The size of a search.

    Attributes:
        edits: tried on the open tasks, in each round. open, sealed: tasks of each side; a gate
            without sealed tasks has only the open ones. repeats: trials of a task on each side.
        lift: the true gain of the right edit, which is edit 0 of the first round; 0: there is none.
        spread: each edit but the right one makes a task better or worse by that much, so that its
            true gain is still 0; simulated tasks need as much margin.
        skew: such edits make a fifth of the tasks worse and the others better by a quarter of that.
    """

    edits: int = 20
    open: int = 50
    sealed: int = 40
    repeats: int = 3
    lift: float = 0.0
    spread: float = 0.0
    skew: bool = False


class Claim(NamedTuple):
    """A gain that a gate measured for an edit."""

    edit: int
    gain: float


class Outcome(NamedTuple):
    """What a gate made of a search.

    Attributes:
        accepted: the edits that it kept, with the gain that it reports.
        tests: the sealed tests that it made, whatever their verdicts.
    """

    accepted: Sequence[Claim]
    tests: Sequence[Claim] = ()


class Search:
    """One search. Its scores are drawn as a gate asks for them.

    Attributes:
        setup: its size. runs: trials so far, of all sides.
    """

    def __init__(self, setup: Setup, population: Population, chance: Random) -> None:
        self.setup = setup
        self.runs = 0
        self._chance = chance
        self._room = population.room
        tasks = population.tasks(chance, setup.open + setup.sealed)
        self._open, self._sealed = tasks[: setup.open], tasks[setup.open :]
        self._lifts: dict[tuple[int, int], float] = {}

    def on_open(self, edits: Collection[int] = ()) -> list[float]:
        """The mean score of each open task, with these edits applied; new trials on each call."""
        return self._means(self._open, edits, 0)

    def on_sealed(self, edits: Collection[int] = ()) -> list[float]:
        """The mean score of each sealed task."""
        return self._means(self._sealed, edits, self.setup.open)

    def true_gain(self, edit: int) -> float:
        """Over all tasks that could have been drawn."""
        return self.setup.lift if edit == 0 else 0.0

    def _means(
        self, tasks: Sequence[TaskScores], edits: Collection[int], first: int
    ) -> list[float]:
        repeats, chance = self.setup.repeats, self._chance
        self.runs += repeats * len(tasks)
        means = []
        for number, task in enumerate(tasks, first):
            lift = sum(self._lift(edit, number, task) for edit in edits)
            means.append(sum(task.draw(chance, lift) for _ in range(repeats)) / repeats)
        return means

    def _lift(self, edit: int, number: int, task: TaskScores) -> float:
        """What an edit changes on a task; a right edit closes the same share of each room."""
        setup = self.setup
        if edit == 0 and setup.lift:
            return setup.lift * task.room / self._room
        if not setup.spread:
            return 0.0
        key = (edit, number)
        if key not in self._lifts:
            self._lifts[key] = self._mixed(setup)
        return self._lifts[key]

    def _mixed(self, setup: Setup) -> float:
        if setup.skew:
            return -setup.spread if self._chance.random() < 0.2 else setup.spread / 4
        return setup.spread if self._chance.random() < 0.5 else -setup.spread


Gate = Callable[[Search], Outcome]


def changes(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """Of each task."""
    return [new - old for old, new in zip(before, after, strict=True)]


def mean(values: Iterable[float]) -> float:
    """0 for nothing."""
    values = list(values)
    return sum(values) / len(values) if values else 0.0
