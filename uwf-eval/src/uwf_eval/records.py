"""The stored records of an evaluation: a run, its trials, and the results of the judges.

One run is a matrix: tasks (and their cases) x workflows x agents x models x repeats. One cell of it
is a *trial*. A trial that could not be judged has no score, never a low one.
All times are ms since 1970, durations ms. The payloads of nodes are these records in camelCase
(`uwf_core.fields`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, Literal

from uwf_core.api import Usage

TrialState = Literal["scored", "failed", "infra_error", "not_run", "tampered"]
"""How a trial ended.

scored: the thread reached its end and every judge that counts gave a score.
failed: the workflow or its agent failed (invalid output, its own limits, a cancelled or
    suspended thread), or a judge or the trial's process was killed after code of the agent had
    run; counts as a failure, score 0.
infra_error: a network, a missing program, a judge that reports that it cannot judge; does not
    count, and reports also show the success rate with such trials as failures.
not_run: not started, or interrupted; does not count.
tampered: the agent changed protected files; counts as a failure, score 0, because otherwise an
    agent could void a lost trial by changing a file.
"""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The position of a trial in the matrix; two runs are paired by `task`, `case` and `repeat`.

    Attributes:
        task: the task's name. case: the case's name, "" where the task has one prompt.
        workflow: the published workflow's reference. workflow_name: its name. Both are `recorded`
            where each recorded step is made again by its own workflow.
        agent: the value of `--agent`, None for the configured one. model: likewise.
        repeat: 1, 2, …
    """

    task: str
    case: str
    workflow: str
    workflow_name: str
    agent: str | None
    model: str | None
    repeat: int


@dataclass(frozen=True, kw_only=True)
class JudgeResult:
    """The result of one judge for one trial.

    Attributes:
        name: the judge's name in the task. judge: `builtin:<name>`, `plugin:<name>` or
            `entry:<file>`.
        weight: of this score in the trial's score; 0: informational.
        score: from 0 to 1; None if the judge failed (`error` has the reason) or only informs.
        scores: one for each repetition, if the judge was repeated.
        agreement: between the repetitions, from 0 to 1 (1 - mean absolute difference).
        aborted: whether it failed in a way that code of the agent can cause: it was killed, hung or
            gave no verdict. The trial then counts as 0.
        data: details of the judge. usage: of the judge's model calls.
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


@dataclass(frozen=True, kw_only=True)
class TrialStep:
    """A step of the trial's thread, for reports; `attempts`: the failed ones before it."""

    role: str
    status: str | None
    agent: str
    duration_ms: int
    usage: Usage
    attempts: int = 0
    corrections: int = 0


Files = Literal["recorded", "fixture", "none"]


@dataclass(frozen=True, kw_only=True)
class StepTrial:
    """What a trial of a recorded step made of it.

    Attributes:
        step: the recorded step. thread: of it. role: that it plays.
        status: what was recorded.
        got: the `$status` of the trial, None without valid output.
        session: `new`: the recorded step began a session, as the trial did; `forked`: the trial
            continued the recorded session as it was before the step; `fresh`: it could not, and got
            the prompt of a new session instead.
        prompt: whether the prompt is the recorded one, but for the id and the folder of the thread;
            of `fresh` it is False.
        files: what the folder held: the `recorded` files, those of a `fixture`, or `none`.
        fields: whether each recorded field of the output, except `$status`, is equal.
        corrections: rejected replies.
    """

    step: str
    thread: str
    role: str
    status: str
    got: str | None = None
    session: Literal["new", "forked", "fresh"] | None = None
    prompt: bool | None = None
    files: Files = "none"
    fields: Mapping[str, bool] = field(default_factory=dict)
    corrections: int = 0

    @property
    def same_status(self) -> bool:
        """Whether the status is the recorded one."""
        return self.got == self.status

    @property
    def same_fields(self) -> float | None:
        """The share of equal fields, None if the record has none."""
        return sum(self.fields.values()) / len(self.fields) if self.fields else None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a trial is not scored: a message and a kind (of the table of failures, or `judge`,
    `judge_aborted`, `worker_died`, `setup`, `teardown`, `fixture`, `store`, `tampered`,
    `suspended`, `limit`).
    """

    kind: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One trial, finished or not.

    Attributes:
        run: the run's id. number: within the run, from 1.
        score: weighted mean of the judges' scores, 0 if `failed` or `tampered`, else None.
        passed: whether the score reaches the task's `pass` (1.0 by default); None without a score.
        thread, head: the thread in the main store, into which it is imported at the end.
        status: the thread's. usage: of the whole thread, not of judges.
        fixture: SHA-256 over the fixture's files, in hexadecimal; task_digest: over the task's.
        tampered: the changed files.
        recorded: of a trial of a recorded step: how it compares with the record.
        attempt: how often this trial was run (`resume` runs it again).
        kept: digest of the files of a trial whose judges could not judge; `resume` judges these.
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
    recorded: StepTrial | None = None
    started_at_ms: int | None = None
    completed_at_ms: int | None = None
    duration_ms: int = 0
    attempt: int = 0
    kept: str = ""

    @property
    def spent(self) -> Usage:
        """What the thread and its judges used together."""
        return reduce(Usage.plus, (each.usage for each in self.judges), self.usage)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of a whole run; None: unlimited."""

    cost_usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    trials: int | None = None


Calibrated = Literal["reached", "below", "cannot_tell", "missing", "no_set"]
"""What is known of a judge: it reaches its bar, misses it, or the set is too small; `missing`: it
was not calibrated with this identity and set.
"""
WHY_NOT: Final[Mapping[Calibrated, str]] = {
    "below": "below its bar",
    "cannot_tell": "cannot tell, its set is too small",
    "missing": "not calibrated",
}
"""Why a judge with a calibration set has weight 0."""


@dataclass(frozen=True, kw_only=True)
class JudgeIdentity:
    """What the scores of a judge depend on.

    Attributes:
        judge: as in `JudgeResult`.
        prompt: digest of the code that writes its prompt, or the version of its plugin.
        model: name, provider, address and further options of the model; "" without one.
        options: digest of its options.
    """

    judge: str
    prompt: str
    model: str
    options: str


@dataclass(frozen=True, kw_only=True)
class RunJudge:
    """A judge of a run that may ask a model.

    Attributes:
        weight: with which it counts in the run: 0 if it has a calibration set and does not reach
            its bar.
    """

    name: str
    weight: float
    identity: JudgeIdentity
    calibration: Calibrated


@dataclass(frozen=True, kw_only=True)
class RunTask:
    """A task of a run: its origin (`folder`, `archive`, `distribution`), its digest, and its judges
    that may ask a model.
    """

    name: str
    source: str
    place: str
    digest: str
    description: str = ""
    tags: Sequence[str] = ()
    pass_: float = 1.0
    judges: Sequence[RunJudge] = ()


@dataclass(frozen=True, kw_only=True)
class Run:
    """One evaluation run.

    Attributes:
        run: its ULID. seed: of everything random in it.
        command: the arguments of `uwf-eval`, for reports.
        finished_at_ms: None while trials remain.
        trials: their number.
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
