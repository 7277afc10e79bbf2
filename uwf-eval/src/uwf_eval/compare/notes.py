"""What a reader of a comparison should know besides its numbers."""

from collections.abc import Iterator, Sequence

from uwf_eval.compare.pairs import Pair
from uwf_eval.compare.records import DIMENSIONS, LeftOut, Options
from uwf_eval.records import Trial


def notes(pairs: Sequence[Pair], left_out: Sequence[LeftOut], options: Options) -> Iterator[str]:
    """Each a sentence."""
    a = [trial for pair in pairs for trial in pair.a]
    b = [trial for pair in pairs for trial in pair.b]
    if a and {_identity(trial) for trial in a} & {_identity(trial) for trial in b}:
        yield "Some trials are on both sides: A and B are not two separate tries."
    yield from _changed(pairs)
    for name, trials in (("A", a), ("B", b)):
        yield from _mixed(name, trials, options)
    if any(each.reason == "tampered" for each in left_out):
        yield "Trials in which an agent touched what judges it are not scored; look at them first."
    tasks = {pair.task for pair in pairs}
    if options.over == "task" and len(tasks) == 1 < len(pairs):
        yield (
            "There is one task, with several cases. With --over case each case counts as one, "
            "and the result holds for this task alone."
        )


def _identity(trial: Trial) -> tuple[str, int]:
    return trial.run, trial.number


def _changed(pairs: Sequence[Pair]) -> Iterator[str]:
    digests = {
        pair.task: [{trial.task_digest for trial in side} for side in (pair.a, pair.b)]
        for pair in pairs
    }
    changed = [task for task, (a, b) in digests.items() if a != b]
    if changed:
        noun = "Task" if len(changed) == 1 else "Tasks"
        verb = "is" if len(changed) == 1 else "are"
        yield (
            f"{noun} {', '.join(changed)} {verb} not the same in A and B: prompt, limits or "
            "judges may have changed, and with them what a score means."
        )


def _mixed(name: str, trials: Sequence[Trial], options: Options) -> Iterator[str]:
    """Several agents or models on one side are told; that tasks have workflows of their own is
    the way of tasks, unless one of them was tried with several.
    """
    for dimension in DIMENSIONS:
        if dimension in options.alike:
            continue
        found: dict[str, set[str | None]] = {}
        for trial in trials:
            task = trial.cell.task if dimension == "workflow" else ""
            found.setdefault(task, set()).add(getattr(trial.cell, dimension))
        most = max(found.values(), key=len, default=set())
        if len(most) > 1:
            yield f"{name} mixes {len(most)} {dimension}s; --by {dimension} sets them apart."
