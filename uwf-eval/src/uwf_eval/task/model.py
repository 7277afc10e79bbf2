"""The shape of task.yaml, and a task once it is read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from uwf_core.fields.mismatch import NOT_BLANK, SPAN, Rule, above, between
from uwf_eval.task.tree import EMPTY_DIGEST, digest_of_tree

Source = Literal["folder", "archive", "distribution"]


Text = Annotated[str, NOT_BLANK]
_Seconds = Annotated[
    float, SPAN, Rule("must be above 0 and at most 86400", lambda s: 0 < s <= 86_400)
]
_Positive = above(0)


@dataclass(frozen=True, kw_only=True)
class JudgeSpec:
    """A judge of a task; exactly one of `builtin`, `entry` and `plugin` selects it.

    Attributes:
        weight: in the trial's score; 0: informational.
        schema: JSON Schema that the judge's data must satisfy, None for anything.
    """

    name: Annotated[Text, "Unique within the task."]
    weight: Annotated[float, "Its weight in the score of a trial.", between(0, 1_000_000)] = 1.0
    builtin: Annotated[Text | None, "A built-in judge."] = None
    entry: Annotated[
        Text | None, "An executable or Python file, relative to the task's folder."
    ] = None
    plugin: Annotated[Text | None, "A judge of another distribution."] = None
    schema: Annotated[Mapping[str, Any] | None, "JSON Schema of the judge's data."] = None
    options: Annotated[
        Mapping[str, Any], "Its options; scripts get them as JSON in `UWF_JUDGE_OPTIONS`."
    ] = field(default_factory=dict)
    repeat: Annotated[int, "How often it is asked.", between(1, 1000)] = 1
    timeout: Annotated[_Seconds, "Seconds for one time."] = 300.0
    calibration: Annotated[
        Text | None,
        "Its calibration set, relative to the task's folder. It counts only while "
        "`uwf eval calibrate` has shown that it reaches the set's bar.",
    ] = None

    @property
    def judge(self) -> str:
        """Which judge it is, as results name it: `builtin:duration`, `entry:judge.py`."""
        if self.builtin is not None:
            return f"builtin:{self.builtin}"
        return f"entry:{self.entry}" if self.entry is not None else f"plugin:{self.plugin}"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a trial's thread, as in a workflow; the tighter of both holds."""

    max_steps: Annotated[int | None, "Steps in all.", _Positive] = None
    max_tokens: Annotated[int | None, "Input and output tokens.", _Positive] = None
    max_cost_usd: Annotated[float | None, "US dollars.", _Positive] = None
    max_minutes: Annotated[float | None, "Minutes spent running.", _Positive] = None
    max_elapsed: Annotated[_Seconds | None, "Time, waiting included."] = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One prompt of a task, or one recorded step."""

    name: Annotated[Text, "Unique within the task."]
    prompt: Annotated[Text | None, "The prompt of the thread."] = None
    step: Annotated[
        Text | None,
        "A recorded step of your store, in place of a prompt: the trial is that step alone, made "
        "again from the recorded prompt, session and files.",
    ] = None
    fixture: Annotated[
        Text | None,
        "Its folder within the task's; without it the recorded files of `step`, else `fixture/`, "
        "else an empty folder.",
    ] = None
    input: Annotated[
        Mapping[str, Any] | None, "Typed input of the workflow; added to that of the task."
    ] = None


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """task.yaml."""

    version: Annotated[int, "The format of this file: 1.", between(1, 1)] = 1
    name: Annotated[Text, "The name of the task."]
    description: Annotated[str, "For people: the purpose of the task."] = ""
    workflow: Annotated[
        Text | None,
        "A name, or a path relative to the task's folder; recorded steps need none: each is made "
        "again by its own workflow.",
    ] = None
    prompt: Annotated[Text | None, "The prompt, if there is one case."] = None
    input: Annotated[Mapping[str, Any] | None, "Typed input of the workflow, if it has one."] = None
    cases: Annotated[tuple[Case, ...], "The cases, if there are several."] = ()
    agent: Annotated[
        Text | None,
        "The agent without `--agent`; in a command line, words that name files of the task mean "
        "those.",
    ] = None
    env: Annotated[Mapping[str, str | None], "Variables for the agent, beside its own."] = field(
        default_factory=dict
    )
    limits: Annotated[Limits, "Limits of each trial."] = Limits()
    protect: Annotated[
        tuple[Text, ...], "Globs, relative to the trial's folder, of what no agent may change."
    ] = ()
    judges: Annotated[
        tuple[JudgeSpec, ...],
        "What scores a trial. Without judges, a recorded step scores 1 if it delivers the recorded "
        "`$status`, else 0.",
    ] = ()
    setup: Annotated[tuple[Text, ...], "Commands before the thread, run by `sh -c`."] = ()
    teardown: Annotated[tuple[Text, ...], "Commands after the judges."] = ()
    command_timeout: Annotated[_Seconds, "Seconds for each of these commands."] = 300.0
    tags: Annotated[tuple[Text, ...], "Words to select tasks by."] = ()
    pass_: Annotated[float, "From which score on a trial passes.", between(0, 1)] = 1.0


@dataclass(frozen=True, kw_only=True)
class Task(TaskFile):
    """A task, ready to be tried: its file, and where it lies.

    Attributes:
        cases: at least one, with the whole input of each; the name is "" where the task has one
            prompt.
        folder: where task.yaml lies. source, place: what it was loaded from.
        digest: SHA-256 over all files of the task, in hexadecimal.
    """

    folder: Path
    source: Source
    place: str
    digest: str


def different_inputs(task: Task) -> list[tuple[int, Mapping[str, Any] | None]]:
    """Each typed input of a task once, with the index of the first case that has it. Recorded steps
    have none.
    """
    found: list[tuple[int, Mapping[str, Any] | None]] = []
    for at, case in enumerate(task.cases):
        if case.step is None and case.input not in [given for _, given in found]:
            found.append((at, case.input))
    return found


RECORDED: Final = "recorded"
"""In place of a workflow: each recorded step is made again by its own."""

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
