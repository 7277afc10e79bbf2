"""The judges of a task with the weight that they have earned."""

from collections.abc import Sequence
from dataclasses import replace

from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_eval.calibration.catalog import find_calibration
from uwf_eval.calibration.set import set_digest
from uwf_eval.judges.identity import asks_a_model, identity_of
from uwf_eval.records import WHY_NOT, Calibrated, RunJudge, RunTask
from uwf_eval.task.model import JudgeSpec, Task


def run_judges(client: Client, task: Task) -> Sequence[RunJudge]:
    """The judges of a task that may ask a model, with their identities and weights in a run."""
    return [_run_judge(client, task, spec) for spec in task.judges if asks_a_model(spec)]


def _run_judge(client: Client, task: Task, spec: JudgeSpec) -> RunJudge:
    identity = identity_of(spec, client, task.folder)
    known: Calibrated = "no_set"
    if spec.calibration is not None:
        digest = set_digest(task.folder / spec.calibration)
        found = find_calibration(client, identity, digest)
        known = "missing" if found is None else found.verdict
    return RunJudge(
        name=spec.name,
        weight=0.0 if known in WHY_NOT else spec.weight,
        identity=identity,
        calibration=known,
    )


def weighed(task: Task, judges: Sequence[RunJudge]) -> Task:
    """The task with the weights of these judges."""
    weights = {each.name: each.weight for each in judges}
    specs = [replace(each, weight=weights.get(each.name, each.weight)) for each in task.judges]
    return replace(task, judges=tuple(specs))


def check_weights(task: Task, judges: Sequence[RunJudge]) -> None:
    """Check that a judge of the task counts.

    Raises:
        UsageError: all judges that would count are not calibrated or miss their bars.
    """
    lost = [each for each in judges if each.calibration in WHY_NOT]
    if not lost or any(each.weight > 0 for each in weighed(task, judges).judges):
        return
    said = ", ".join(f"{each.name} ({WHY_NOT[each.calibration]})" for each in lost)
    raise UsageError(
        f"no judge of task {task.name!r} counts: {said}",
        hint=f"uwf eval calibrate {task.place}/{lost[0].name}",
    )


def check_identities(known: RunTask, judges: Sequence[RunJudge]) -> None:
    """Check that a resumed run has the judges with which it began.

    Raises:
        UsageError: the prompt, the model or the options of one have changed.
    """
    now = {each.name: each.identity for each in judges}
    for each in known.judges:
        if now.get(each.name) != each.identity:
            raise UsageError(
                f"the judge {each.name!r} of task {known.name!r} is not the one with which the run "
                "began: its prompt, model or options have changed",
                hint="set modelOverrides.judge back, start a new run, or judge the rest with the "
                f"new one: uwf eval resume RUN --task {known.place}",
            )


def notices(tasks: Sequence[RunTask]) -> Sequence[str]:
    """A line for each judge that has lost its weight."""
    return [
        f"judge {each.name} of {task.name} has weight 0: {WHY_NOT[each.calibration]}; "
        f"uwf eval calibrate {task.place}/{each.name}"
        for task in tasks
        for each in task.judges
        if each.calibration in WHY_NOT
    ]
