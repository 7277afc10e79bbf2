"""What is stored of an evaluation: a run, its trials, and what the judges said of each.

One run is a matrix: tasks (and their cases) x workflows x agents x models x repeats. One cell of it
is a *trial*. A trial that could not be judged has no score, never a low one.
All times are ms since 1970, durations ms. The payloads of nodes are these records in camelCase
(`uwf_core.api.fields`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from uwf_core.api import Usage
from uwf_core.api.record import record

TrialState = Literal["scored", "failed", "infra_error", "not_run", "tampered"]
"""How a trial ended.

scored: the thread reached its end and every judge that counts gave a score.
failed: the workflow or its agent did not get to the end by its own fault (invalid output,
    its own limits, a cancelled or suspended thread), or a judge or the trial's own process was
    ended after what the agent made had run; counts as a failure, score 0.
infra_error: a network, a missing program, a judge that says it cannot judge; counts as
    nothing, and reports say what the share would be if it were a failure.
not_run: planned, not begun or interrupted; counts as nothing.
tampered: the agent touched what it is judged by; counts as a failure, score 0: otherwise it
    would get rid of a lost trial by touching something.
"""


@record
class Cell:
    """Where a trial stands in the matrix; two runs are paired by `task` and `case` and `repeat`.

    Attributes:
        task: the task's name. case: the case's name, "" where the task has one prompt.
        workflow: the published workflow's reference. workflow_name: its name.
        agent: the word after `--agent`, None for what the configuration says. model: likewise.
        repeat: 1, 2, …
    """

    task: str
    case: str
    workflow: str
    workflow_name: str
    agent: str | None
    model: str | None
    repeat: int


@record
class JudgeResult:
    """What one judge said of one trial.

    Attributes:
        name: as the task calls it. judge: `builtin:<name>`, `plugin:<name>` or `entry:<file>`.
        weight: of the score in the trial's; 0: informational.
        score: within 0..1; None where the judge failed (`error` says why) or only informs.
        scores: of each repetition, where the judge was repeated.
        agreement: of the repetitions with each other, within 0..1 (1 - mean absolute difference).
        aborted: whether it failed in a way that what the agent made can bring about: it died, hung
            or gave no verdict. The trial counts as 0 then.
        data: whatever the judge keeps. usage: of its own model calls.
    """

    name: str
    judge: str
    weight: float
    score: float | None
    data: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    aborted: bool = False
    scores: Sequence[float] = ()
    agreement: float | None = None
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0


@record
class TrialStep:
    """A step of the trial's thread, for reports; `attempts`: how many failed before it."""

    role: str
    status: str | None
    agent: str
    duration_ms: int
    usage: Usage
    attempts: int = 0
    corrections: int = 0


@record
class Failure:
    """Why a trial is not scored: a kind (of the table of failures, or `judge`, `judge_aborted`,
    `worker_died`, `setup`, `teardown`, `fixture`, `store`, `tampered`, `suspended`, `limit`) and a
    sentence.
    """

    kind: str
    message: str


@record
class Trial:
    """One trial, ended or not.

    Attributes:
        run: the run's id. number: within the run, from 1.
        score: weighted mean of the judges' scores, 0 if `failed` or `tampered`, else None.
        passed: whether the score reaches the task's `pass` (default 1.0); None without a score.
        thread, head: the thread in the main store (imported when the trial ended), if any.
        status: the thread's. usage: of the whole thread, not of judges.
        fixture: SHA-256 over the fixture's files, in hexadecimal; task_digest: over the task's.
        tampered: what was touched.
        attempt: how many times this trial was run by now (`resume` runs it again).
    """

    run: str
    number: int
    cell: Cell
    state: TrialState
    score: float | None = None
    passed: bool | None = None
    judges: Sequence[JudgeResult] = ()
    steps: Sequence[TrialStep] = ()
    thread: str | None = None
    head: str | None = None
    status: str | None = None
    usage: Usage = field(default_factory=Usage)
    task_digest: str = ""
    fixture: str = ""
    failure: Failure | None = None
    tampered: Sequence[str] = ()
    started_at_ms: int | None = None
    completed_at_ms: int | None = None
    duration_ms: int = 0
    attempt: int = 0


@record
class Budget:
    """The most that a whole run may use; None: as much as it takes."""

    cost_usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    trials: int | None = None


@record
class RunTask:
    """A task of a run: where it came from (`folder`, `archive`, `distribution`) and its digest."""

    name: str
    source: str
    place: str
    digest: str
    description: str = ""
    tags: Sequence[str] = ()
    pass_score: float = 1.0


@record
class Run:
    """One evaluation run.

    Attributes:
        run: its ULID. seed: what everything random in it was made from.
        command: the words after `uwf-eval`, for people.
        finished_at_ms: None while trials are left.
        trials: how many there are in all.
    """

    run: str
    name: str
    started_at_ms: int
    finished_at_ms: int | None
    seed: int
    repeat: int
    jobs: int
    tasks: Sequence[RunTask]
    workflows: Sequence[str]
    agents: Sequence[str | None]
    models: Sequence[str | None]
    trials: int
    budget: Budget = field(default_factory=Budget)
    command: Sequence[str] = ()
    eval_version: str = ""
    engine_version: str = ""
