"""The interface to the judges: their input, and what is wrong with a judge of a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from uwf_core.api import Cancel, Judge, Model, UwfError
from uwf_core.client import Client
from uwf_eval.judges.failed import JudgeFailed
from uwf_eval.task.model import JudgeSpec, Task

READ_RECORD_ONLY: Final = frozenset(
    ("cost", "duration", "expected-route", "frontmatter-compliance", "token-stats")
)
"""The built-in judges that only read the record, so that they cannot hang."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The input of judges. The agent has ended, and has no access to any of it.

    Attributes:
        cwd: the judges' copy of the trial's folder, without links to the outside; created only if
            a judge reads it.
        thread: the thread's id, in the store that `env` names.
        record: the thread, as `JudgeRequest.record` specifies it.
        env: the environment of judges that are programs: with its `UWF_HOME` and `UWF_STORE`,
            `uwf step show` finds the trial.
        fixture: the original of the trial's folder; None if the folder was empty.
        model: for judges that call one; None if none is configured.
        client: of the store that has the thread; it opens the judges of plugins.
        state_dir: the working folder of the judges, created on demand.
        unable: why judges could not start their commands already before the agent ran, by name.
        cancel: set when the run stops.
    """

    cwd: Path
    thread: str
    record: Mapping[str, Any]
    env: Mapping[str, str] = field(repr=False)
    fixture: Path | None
    model: Model | None
    client: Client
    state_dir: Path
    unable: Mapping[str, str] = field(default_factory=dict)
    cancel: Cancel = field(default_factory=Cancel)


class JudgeProblem(NamedTuple):
    """An error in a judge of a task: its key (`builtin`, `options`, …), a message, a hint."""

    key: str
    message: str
    hint: str = ""


def open_judge(spec: JudgeSpec, client: Client, *, where: str) -> Judge:
    """Create a built-in judge or one of a plugin: uwf-eval announces its own as others do.

    Raises:
        JudgeFailed: unknown built-in judge. UwfError: it cannot be used, or its options are not
            valid; `where` is their place.
    """
    from uwf_core.definitions import suggestion
    from uwf_eval.judges.builtin_judges import builtin_judges

    known = builtin_judges()
    if spec.builtin is not None and spec.builtin not in known:
        hint = suggestion(spec.builtin, known) or f"there are: {', '.join(known)}"
        raise JudgeFailed(f"unknown builtin judge {spec.builtin!r}", hint=hint)
    name = spec.builtin or spec.plugin
    if name is None:
        raise JudgeFailed("it has neither builtin nor entry nor plugin")
    return client.judge(name, spec.options, where=where)


def judge_problems(spec: JudgeSpec, client: Client) -> Sequence[JudgeProblem]:
    """Validate a judge without running it: it is created, with its name, its options, and the
    model of the configuration if it asks one.
    """
    kind = "plugin" if spec.builtin is None else "builtin"
    try:
        if spec.entry is None:  # a script can only be validated by running it
            open_judge(spec, client, where="options")
    except UwfError as fault:
        key = "options" if str(fault.where or "").startswith("options") else kind
        message = fault.message if fault.where is None or key == kind else str(fault)
        return [JudgeProblem(key, message, fault.hint or "")]
    return []


def need_folder(task: Task) -> bool:
    """Whether any judge of the task reads more than the record."""
    return any(judge.builtin not in READ_RECORD_ONLY for judge in task.judges)
