"""The trials of a run: tasks and their cases x workflows x agents x models x repeats. Pure."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from uwf_eval.records import Cell, Trial
from uwf_eval.task.model import Task


@dataclass(frozen=True, kw_only=True)
class Published:
    """A workflow in the store: the argument that selected it, its reference, its name."""

    word: str
    ref: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The combinations of a run.

    Attributes:
        tasks: in the order of the arguments, with unique names.
        workflows: by the task's name.
        agents: values of `--agent`; None for the agent of the task or of the configuration.
        models: names of the configuration; None for its default.
        fixtures: the digest of each fixture by (task, case).
    """

    tasks: Sequence[Task]
    workflows: Mapping[str, Sequence[Published]]
    agents: Sequence[str | None] = (None,)
    models: Sequence[str | None] = (None,)
    repeat: int = 1
    fixtures: Mapping[tuple[str, str], str]

    def size(self) -> int:
        """The number of trials."""
        per_case = len(self.agents) * len(self.models) * self.repeat
        return sum(len(t.cases) * len(self.workflows[t.name]) * per_case for t in self.tasks)


def planned(matrix: Matrix, run: str) -> list[Trial]:
    """All trials in the state not_run, numbered from 1 in the order of the matrix."""
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
    """The order in which trials run: all first repeats, then all second ones, each round shuffled.

    Conditions that change during a run (a service slows down, a cache fills) then affect all cells
    alike, and an interrupted run has tried all cells about equally often.
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
