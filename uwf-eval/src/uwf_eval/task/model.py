"""What a task says, once it is read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal

from uwf_core.api.record import record
from uwf_eval.task.tree import EMPTY_DIGEST, digest_of_tree

Source = Literal["folder", "archive", "distribution"]


@record
class JudgeSpec:
    """A judge of a task; exactly one of `builtin`, `entry` and `plugin` says which.

    Attributes:
        name: unique within the task. weight: in the trial's score; 0: informational.
        builtin: a built-in judge. plugin: one of another distribution.
        entry: an executable or Python file, relative to the task's folder.
        schema: JSON Schema that the judge's data must satisfy, None for anything.
        options: for builtin judges and plugins; scripts get them as JSON in `UWF_JUDGE_OPTIONS`.
        repeat: how often it is asked. timeout: seconds for one time.
    """

    name: str
    weight: float = 1.0
    builtin: str | None = None
    entry: str | None = None
    plugin: str | None = None
    schema: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 1
    timeout: float = 300.0

    @property
    def judge(self) -> str:
        """Which judge it is, as results name it: `builtin:duration`, `entry:judge.py`."""
        if self.builtin is not None:
            return f"builtin:{self.builtin}"
        return f"entry:{self.entry}" if self.entry is not None else f"plugin:{self.plugin}"


@record
class Limits:
    """What a trial's thread may use, as in a workflow; the tighter of both holds."""

    max_steps: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_minutes: float | None = None


@record
class Case:
    """One prompt of a task. `fixture`: its folder within the task's, None: the task's own
    `fixture/`, or an empty folder where there is none.
    """

    name: str
    prompt: str
    fixture: str | None = None


@record
class Command:
    """A setup or teardown command: `text` is run by `sh -c`, in the trial's folder. It gets
    the usual variables, those of the task's `env`, and the task's folder in `UWF_EVAL_TASK` (which
    no agent ever sees).
    """

    text: str
    timeout: float = 300.0


@record
class Task:
    """A task, ready to be tried.

    Attributes:
        workflow: a name, or a path relative to `folder`.
        cases: at least one; the name is "" where the task has one prompt.
        agent: the word where `--agent` says none; in a command line, words that name files of
            the task mean those.
        env: variables for the agent, beside its own.
        protect: globs, relative to the trial's folder, of what no agent may change.
        pass_score: from which score on a trial passes.
        folder: where task.yaml lies. source, place: what it was loaded from.
        digest: SHA-256 over all files of the task, in hexadecimal.
    """

    name: str
    description: str = ""
    workflow: str
    cases: Sequence[Case]
    judges: Sequence[JudgeSpec]
    agent: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    protect: Sequence[str] = ()
    setup: Sequence[Command] = ()
    teardown: Sequence[Command] = ()
    tags: Sequence[str] = ()
    pass_score: float = 1.0
    folder: Path
    source: Source
    place: str
    digest: str


FIXTURE: Final = "fixture"


def fixture_of(task: Task, case: Case) -> Path | None:
    """The folder that a trial of this case is a copy of, None if it begins empty."""
    if case.fixture is not None:
        return task.folder / case.fixture
    usual = task.folder / FIXTURE
    return usual if usual.is_dir() else None


def fixture_digest(task: Task, case: Case) -> str:
    """SHA-256 over the fixture, in hexadecimal."""
    folder = fixture_of(task, case)
    return EMPTY_DIGEST if folder is None else digest_of_tree(folder)
