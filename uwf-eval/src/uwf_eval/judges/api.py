"""The interface to the judges: their input, and what is wrong with a judge of a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from uwf_core.api import Cancel, Model
from uwf_core.api.judge import needed_model
from uwf_core.client import Client
from uwf_core.definitions import suggestion
from uwf_core.errors import ConfigError, UwfError
from uwf_eval.judges.builtin_judges import builtin_judges, builtin_options
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


def judge_problems(spec: JudgeSpec, client: Client) -> Sequence[JudgeProblem]:
    """Validate a judge without running it: its name, its options, and that a model is configured
    if it asks one. That of a plugin is created.
    """
    name, known = spec.builtin, builtin_judges()
    if spec.plugin is not None:
        return _plugin_problems(spec, spec.plugin, client)
    if name is None:  # a script can only be validated by running it
        return []
    if name not in known:
        hint = suggestion(name, known) or f"there are: {', '.join(known)}"
        return [JudgeProblem("builtin", f"unknown builtin judge {name!r}", hint)]
    try:
        builtin_options(name, spec.options, where="options")
    except ConfigError as fault:
        return [JudgeProblem("options", str(fault), fault.hint or "")]
    if known[name].needs_model:
        try:
            needed_model(client.judge_model)
        except ConfigError as fault:
            return [JudgeProblem("builtin", f"{name} asks a model: {fault}", fault.hint or "")]
    return []


def _plugin_problems(spec: JudgeSpec, name: str, client: Client) -> Sequence[JudgeProblem]:
    try:
        client.judge(name, spec.options, where="options")
    except ConfigError as fault:
        return [JudgeProblem("options", str(fault), fault.hint or "")]
    except UwfError as fault:
        return [JudgeProblem("plugin", fault.message, fault.hint or "")]
    return []


def need_folder(task: Task) -> bool:
    """Whether any judge of the task reads more than the record."""
    return any(judge.builtin not in READ_RECORD_ONLY for judge in task.judges)
