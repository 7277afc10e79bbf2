"""Scores of trials whose true mean is known: simulated, or drawn from recorded trials."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol


class TaskScores(Protocol):
    """How one version scores on one task."""

    def draw(self, chance: Random, lift: float) -> float:
        """The score of one trial, with a true mean that is `lift` higher than the champion's."""

    @property
    def room(self) -> float:
        """How much higher the true mean can get."""


class Coin(NamedTuple):
    """A task that passes with a probability."""

    share: float

    def draw(self, chance: Random, lift: float) -> float:
        """1 if the trial passes, else 0."""
        return 1.0 if chance.random() < self.share + lift else 0.0

    @property
    def room(self) -> float:
        """Up to 1."""
        return 1.0 - self.share


class Recorded(NamedTuple):
    """A task with recorded scores of one version, each as likely as the others."""

    scores: Sequence[float]

    def draw(self, chance: Random, lift: float) -> float:
        """One of the scores. For a lift, the chance of a full score makes up the difference."""
        score = self.scores[int(chance.random() * len(self.scores))]
        if lift > 0 and self.room > 0 and chance.random() < lift / self.room:
            return 1.0
        return score

    @property
    def room(self) -> float:
        """Up to 1."""
        return 1.0 - sum(self.scores) / len(self.scores)


class Population(Protocol):
    """Where tasks come from."""

    def tasks(self, chance: Random, count: int) -> Sequence[TaskScores]:
        """So many tasks, drawn at random."""

    @property
    def room(self) -> float:
        """The mean room of all tasks."""


class Simulated(NamedTuple):
    """Pass/fail tasks: the probability to pass is uniform over tasks, between `margin` and 1 less
    `margin`.
    """

    margin: float = 0.0

    def tasks(self, chance: Random, count: int) -> Sequence[TaskScores]:
        """Tasks with independent probabilities."""
        return [Coin(chance.uniform(self.margin, 1 - self.margin)) for _ in range(count)]

    @property
    def room(self) -> float:
        """A half, whatever the margin."""
        return 0.5


class FromRecords(NamedTuple):
    """Tasks of a recorded evaluation: each is drawn with its scores."""

    records: Sequence[Sequence[float]]

    def tasks(self, chance: Random, count: int) -> Sequence[TaskScores]:
        """Tasks, drawn with replacement."""
        return [Recorded(chance.choice(self.records)) for _ in range(count)]

    @property
    def room(self) -> float:
        """Of the recorded tasks."""
        return sum(Recorded(each).room for each in self.records) / len(self.records)


def read_records(file: Path) -> FromRecords:
    """The scores of a JSON file: an object with a list of scores from 0 to 1 for each task.

    Raises:
        ValueError: it is not such a file.
    """
    document = json.loads(file.read_text("utf-8"))
    if not isinstance(document, dict):
        raise ValueError(f"{file}: expected an object with a list of scores for each task")
    for task, scores in document.items():
        if not (isinstance(scores, list) and scores and all(map(_is_score, scores))):
            raise ValueError(f"{file}: {task}: expected a list of scores from 0 to 1")
    if not document:
        raise ValueError(f"{file}: no task")
    return FromRecords([[float(each) for each in scores] for scores in document.values()])


def _is_score(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1
