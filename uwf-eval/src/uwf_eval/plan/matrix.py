"""The trials of a run: tasks and their cases x workflows x agents x models x repeats. Pure."""

import random
from collections.abc import Iterator, Mapping, Sequence

from uwf_core.api.record import record
from uwf_eval.records import Cell, Trial
from uwf_eval.task.model import Task


@record
class Published:
    """A workflow in the store: the word that named it, its reference, its own name."""

    word: str
    ref: str
    name: str


@record
class Matrix:
    """What a run is to try.

    Attributes:
        tasks: in the order they were named; no two of one name.
        workflows: for each task's name, the workflows to try it with.
        agents: words; None for what the task, else the configuration says.
        models: names of the configuration; None for what it says.
        fixtures: the digest of each fixture by (task, case).
    """

    tasks: Sequence[Task]
    workflows: Mapping[str, Sequence[Published]]
    agents: Sequence[str | None] = (None,)
    models: Sequence[str | None] = (None,)
    repeat: int = 1
    fixtures: Mapping[tuple[str, str], str]

    def size(self) -> int:
        """How many trials there are."""
        per_case = len(self.agents) * len(self.models) * self.repeat
        return sum(len(t.cases) * len(self.workflows[t.name]) * per_case for t in self.tasks)


def planned(matrix: Matrix, run: str) -> list[Trial]:
    """Every trial, none of them run yet, numbered from 1 in the order of the matrix."""
    digests = {task.name: task.digest for task in matrix.tasks}
    return [
        Trial(
            run=run,
            number=number,
            cell=cell,
            state="not_run",
            task_digest=digests[cell.task],
            fixture=matrix.fixtures[cell.task, cell.case],
        )
        for number, cell in enumerate(_cells(matrix), 1)
    ]


def _cells(matrix: Matrix) -> Iterator[Cell]:
    for task in matrix.tasks:
        for case in task.cases:
            for workflow in matrix.workflows[task.name]:
                for agent in matrix.agents:
                    for model in matrix.models:
                        for repeat in range(1, matrix.repeat + 1):
                            yield Cell(
                                task=task.name,
                                case=case.name,
                                workflow=workflow.ref,
                                workflow_name=workflow.name,
                                agent=task.agent if agent is None else agent,
                                model=model,
                                repeat=repeat,
                            )


def in_order(trials: Sequence[Trial], seed: int) -> list[Trial]:
    """Trials in the order in which they are run: all first repeats, then all second ones, and so
    on, each round shuffled. What changes in the world while a run lasts (a service that slows
    down, a cache that fills) then falls on all cells alike, and a run that is cut short has tried
    all of them about as often.
    """
    chance = random.Random(seed)
    rounds: dict[int, list[Trial]] = {}
    for trial in trials:
        rounds.setdefault(trial.cell.repeat, []).append(trial)
    ordered: list[Trial] = []
    for repeat in sorted(rounds):
        chance.shuffle(rounds[repeat])
        ordered += rounds[repeat]
    return ordered
