"""Sealed sets as they are stored: each event is a record that names the one before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from uwf_improve.gate.bar import Bar
from uwf_improve.gate.decide import Verdict
from uwf_improve.gate.sides import Place, Side

Event = Literal["sealed", "extended", "begun", "decided", "opened"]


@dataclass(frozen=True, kw_only=True)
class SetTask:
    """One case of a task: its name in trials, its side, the unit of the test that it belongs to,
    where it came from, and the digest of its copy.
    """

    name: str
    side: Side
    unit: str
    origin: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class SealedTest:
    """A test of a set: spent from the moment it begins.

    Attributes:
        number: from 1. level: its alpha. edit: the edit's id. agent, model: of all trials.
        verdict: None while trials remain. why: of a refusal.
        gain, low, high, p: only of an accepted edit; the range is of level 1 - 2 * `level`.
    """

    number: int
    level: float
    edit: str
    agent: str | None = None
    model: str | None = None
    begun_at_ms: int
    decided_at_ms: int | None = None
    verdict: Verdict | None = None
    why: str = ""
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


@dataclass(frozen=True, kw_only=True)
class SetRecord:
    """The state of a set after an event.

    Attributes:
        set: its name. number: of the record, from 1. prev: the reference of the record before.
        bar: stored with the first record, before any trial; no later record changes it.
        places: of each mark of a task that was ever seen. tests: all of them.
        opened: how many of the tests belong to sealed tasks that are open by now.
    """

    set: str
    number: int
    prev: str | None
    event: Event
    at_ms: int
    bar: Bar
    tasks: Sequence[SetTask]
    places: Mapping[str, Place] = field(default_factory=dict)
    tests: Sequence[SealedTest] = ()
    opened: int = 0

    @property
    def sealed(self) -> list[SetTask]:
        """The sealed tasks."""
        return [each for each in self.tasks if each.side == "sealed"]

    @property
    def spent(self) -> Sequence[SealedTest]:
        """The tests of the tasks that are sealed now."""
        return self.tests[self.opened :]

    @property
    def running(self) -> SealedTest | None:
        """The test without a verdict."""
        last = self.tests[-1] if self.tests else None
        return last if last is not None and last.verdict is None else None
