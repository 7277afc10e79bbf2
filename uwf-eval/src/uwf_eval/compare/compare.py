"""Compare two lists of trials."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from uwf_eval.compare.measure import MetricSample, plans, weigh
from uwf_eval.compare.pairs import Pair, pair_up
from uwf_eval.compare.records import (
    DIMENSIONS,
    METRICS,
    STEP_METRICS,
    CompareOptions,
    Comparison,
    LeftOut,
    Measured,
)
from uwf_eval.compare.verdict import judge
from uwf_eval.records import Trial
from uwf_eval.statistics.signflip import holm, sign_flip


def compare(
    a: Sequence[Trial], b: Sequence[Trial], options: CompareOptions | None = None
) -> Comparison:
    """Test whether B is better than A, by how much and at what cost.

    Trials count if they have a score and the other side has the same task, case and fixture;
    `left_out` lists all others.

    Args:
        a, b: all trials of each side. options: by default only the score is tested.
    """
    options = options or CompareOptions()
    found = pair_up(a, b, options.alike)
    is_recorded = _are_recorded(found.pairs)
    options = replace(options, over=options.over or ("case" if is_recorded else "task"))
    tested = _tested([weigh(metric, found.pairs, options) for metric in options.metrics], options)
    beside = [
        weigh(metric, found.pairs, options).measured
        for metric in (*METRICS, *(STEP_METRICS if is_recorded else ()))
        if metric not in options.metrics
    ]
    assert tested[0].verdict is not None
    return Comparison(
        verdict=tested[0].verdict,
        names=options.names,
        tasks=list(dict.fromkeys(pair.task for pair in found.pairs)),
        over=options.over or "task",
        trials=(sum(len(each.a) for each in found.pairs), sum(len(each.b) for each in found.pairs)),
        level=options.level,
        power=options.power,
        within=options.within,
        seed=options.seed,
        tested=tested,
        beside=beside,
        left_out=found.left_out,
        notes=list(notes(found.pairs, found.left_out, options)),
    )


def _are_recorded(pairs: Sequence[Pair]) -> bool:
    """Whether all compared trials are recorded steps."""
    trials = [trial for pair in pairs for trial in (*pair.a, *pair.b)]
    return bool(trials) and all(each.recorded is not None for each in trials)


def _tested(weighed: Sequence[MetricSample], options: CompareOptions) -> list[Measured]:
    flips = [sign_flip(each.differences, seed=options.seed) for each in weighed]
    adjusted = holm([flip.p for flip in flips])
    tested = []
    for each, flip, p in zip(weighed, flips, adjusted, strict=True):
        measured = replace(each.measured, p=flip.p, adjusted=p, exact=flip.exact)
        verdict, why = judge(measured, options)
        needed = plans(each, options) if verdict == "cannot_tell" else ()
        tested.append(replace(measured, verdict=verdict, why=why, plans=needed))
    return tested


def notes(
    pairs: Sequence[Pair], left_out: Sequence[LeftOut], options: CompareOptions
) -> Iterator[str]:
    """Notes about the comparison, each a sentence."""
    a = [trial for pair in pairs for trial in pair.a]
    b = [trial for pair in pairs for trial in pair.b]
    if a and {_identity(trial) for trial in a} & {_identity(trial) for trial in b}:
        yield "Some trials are on both sides: A and B are not independent."
    yield from _changed(pairs)
    for name, trials in (("A", a), ("B", b)):
        yield from _mixed(name, trials, options)
    for name, trials in (("A", a), ("B", b)):
        yield from _pass_rate_at_least(name, trials, left_out)
    if any(trial.state == "tampered" for trial in (*a, *b)):
        yield "Tampered trials count as 0; look at them first."
    yield from _dependent(pairs, options)
    tasks = {pair.task for pair in pairs}
    if options.over == "task" and len(tasks) == 1 < len(pairs):
        yield (
            "There is one task with several cases. With --over case each case counts as one, "
            "and the result holds for this task only."
        )


def _dependent(pairs: Sequence[Pair], options: CompareOptions) -> Iterator[str]:
    """Report recorded steps of the same thread: they are not independent."""
    steps = [trial.recorded for pair in pairs for trial in pair.a[:1] if trial.recorded is not None]
    threads = {each.thread for each in steps}
    if options.over == "case" and len(threads) < len(steps):
        yield (
            f"The {len(steps)} recorded steps come from {len(threads)} threads. Steps of a thread "
            "resemble each other, so the result may look clearer than it is."
        )


def _pass_rate_at_least(
    name: str, trials: Sequence[Trial], left_out: Sequence[LeftOut]
) -> Iterator[str]:
    """The pass rate with infrastructure errors as failures, because an agent may cause them."""
    errors = sum(
        each.trials for each in left_out if (each.side, each.reason) == (name, "infra_error")
    )
    if errors and trials:
        passed, counted = sum(trial.passed is True for trial in trials), len(trials)
        yield (
            f"With infrastructure errors as failures {passed} of {counted + errors} trials of "
            f"{name} passed, without them {passed} of {counted}."
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
            f"{noun} {', '.join(changed)} {verb} different in A and B: prompt, limits or judges "
            "may have changed, and with them the meaning of a score."
        )


def _mixed(name: str, trials: Sequence[Trial], options: CompareOptions) -> Iterator[str]:
    """Report several agents or models on one side; workflows count only if one task has several."""
    for dimension in DIMENSIONS:
        if dimension in options.alike:
            continue
        found: dict[str, set[str | None]] = {}
        for trial in trials:
            task = trial.cell.task if dimension == "workflow" else ""
            found.setdefault(task, set()).add(getattr(trial.cell, dimension))
        most = max(found.values(), key=len, default=set())
        if len(most) > 1:
            yield f"{name} contains {len(most)} {dimension}s; --by {dimension} separates them."
