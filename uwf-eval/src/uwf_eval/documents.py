"""The documents that `uwf eval` prints, beside those that are a record alone."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from uwf_core.client import BundleDocument
from uwf_eval.calibration.records import Calibration
from uwf_eval.records import Run, Trial


class RunState(TypedDict):
    """What `run` and `resume` add to the run: how many trials are in each state, how many passed,
    the mean score, the limit that ended it, and the next command.
    """

    states: dict[str, int]
    passed: int
    score: float | None
    stopped: str | None
    hint: str


RunDocument = Annotated[Mapping[str, Any], Run, RunState]


class RunRow(TypedDict):
    """A run in a list."""

    run: str
    name: str
    startedAtMs: int
    finishedAtMs: int | None
    trials: int
    states: dict[str, int]
    tasks: list[str]
    workflows: list[str]
    agents: list[str | None]
    models: list[str | None]
    repeat: int


class RunsDocument(TypedDict):
    """The runs, newest first."""

    runs: list[RunRow]


class Reading(TypedDict):
    """The commands that show more of a trial."""

    commands: list[str]


TrialDocument = Annotated[Mapping[str, Any], Trial, Reading]


class NewTask(TypedDict):
    """A task that was created; `expected`: the answer of the whole thread that it was made of."""

    name: str
    folder: str
    expected: NotRequired[dict[str, Any]]
    hint: str


class JudgeOfSet(TypedDict):
    """A judge with its calibration set. `weight`: of its scores in runs from now on; `ref`: the
    stored calibration.
    """

    task: str
    name: str
    set: str | None
    weight: float
    ref: str


class PlannedCalibration(TypedDict):
    """What `calibrate --dry-run` would ask of a judge."""

    task: str
    name: str
    set: str | None
    asked: int
    items: int
    verdict: None


class CalibrationsDocument(TypedDict):
    """What `calibrate` measured, or would ask."""

    calibrations: Sequence[
        Annotated[Mapping[str, Any], JudgeOfSet, Calibration] | PlannedCalibration
    ]


class TrialBundle(BundleDocument):
    """The bundle of the thread of a trial."""

    trial: int


class BundlesDocument(TypedDict):
    """What `export` wrote; `withoutThread`: how many trials have nothing to export."""

    bundles: list[TrialBundle]
    withoutThread: int


class LogDocument(TypedDict):
    """The log that `export --format inspect` wrote."""

    run: str
    format: str
    samples: int
    file: str
