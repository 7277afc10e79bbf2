"""The door to the judges: what they are given, and the one function that asks them all."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from uwf_core.api import Cancel, Model
from uwf_core.api.record import record
from uwf_core.client import Client
from uwf_core.named_tuple import NamedTuple
from uwf_eval.records import JudgeResult
from uwf_eval.task.model import JudgeSpec, Task

OF_RECORD: Final = frozenset(
    ("cost", "duration", "expected-route", "frontmatter-compliance", "token-stats")
)
"""The builtin judges that only read the record: nothing in them can hang."""


@record
class Evidence:
    """What judges may look at. The agent is gone, and all of this is out of its reach.

    Attributes:
        cwd: the judges' own copy of the trial's folder, without what looks at the outside; made
            only where a judge looks at it.
        thread: the thread's id, in the store that `env` names.
        record: the thread's document (`uwf thread show`), with the whole documents of its steps
            (`uwf step show`) under `steps`, in order, without the start.
        env: the environment of judges that are programs: `UWF_HOME`, `UWF_STORE` and so on are
            such that `uwf step show` finds the trial.
        fixture: the folder that the trial's folder was a copy of, None if it began empty.
        model: the one for judges that ask one, None if there is none.
        client: a client of the store that has the thread; it opens the judges of plugins.
        state_dir: a folder of the judges' own, made when one needs it.
        cancel: set when the run is to stop.
    """

    cwd: Path
    thread: str
    record: Mapping[str, Any]
    env: Mapping[str, str] = field(repr=False)
    fixture: Path | None
    model: Model | None
    client: Client
    state_dir: Path
    cancel: Cancel = field(default_factory=Cancel)


class JudgeFault(NamedTuple):
    """What is wrong with a judge of a task: `key` of it (`builtin`, `options`, …), and the cure."""

    key: str
    message: str
    hint: str = ""


def judge_faults(spec: JudgeSpec, folder: Path) -> Sequence[JudgeFault]:
    """What of a judge cannot be, found without asking it: an unknown name, wrong options.

    Args:
        spec: the judge. folder: the task's.
    """
    from uwf_core.definitions import suggestion
    from uwf_core.errors import ConfigError
    from uwf_eval.judges.catalog import builtin_judges, builtin_options

    name, known = spec.builtin, builtin_judges()
    if name is None:  # of other judges, only asking them shows it
        return []
    if name not in known:
        hint = suggestion(name, known) or f"there are: {', '.join(known)}"
        return [JudgeFault("builtin", f"unknown builtin judge {name!r}", hint)]
    try:
        builtin_options(name, spec.options, where="options")
    except ConfigError as fault:
        return [JudgeFault("options", str(fault), fault.hint or "")]
    return []


def need_folder(task: Task) -> bool:
    """Whether any judge of the task looks at more than the record."""
    return any(judge.builtin not in OF_RECORD for judge in task.judges)


def judge_all(task: Task, evidence: Evidence) -> list[JudgeResult]:
    """What every judge of the task says, in the task's order. A judge that fails says so in its
    result; it never stops the others.
    """
    from uwf_eval.judges.asking import ask_judge
    from uwf_eval.judges.context import JudgeContext

    context = JudgeContext(task, evidence)
    return [ask_judge(context, spec) for spec in task.judges]
