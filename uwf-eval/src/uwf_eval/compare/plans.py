"""How many more tasks or repeats it would take to tell."""

from collections.abc import Iterator

from uwf_eval.compare.metrics import is_bounded
from uwf_eval.compare.records import Measured, Options, Plan
from uwf_eval.compare.weigh import Weighed
from uwf_eval.statistics.power import Aim, repeats_needed, spread, tasks_needed


def plans(weighed: Weighed, options: Options) -> list[Plan]:
    """For the smallest difference that matters, and for the one that was seen if it is greater."""
    if not weighed.cases:
        return []
    seen = spread(weighed.cases)
    # With several metrics the hardest step of Holm's rule is planned for.
    level = 1 - (1 - options.level) / len(options.metrics)
    bounded = is_bounded(weighed.measured.metric)
    repeats_now = sum(len(a) for cases in weighed.cases for a, _ in cases)
    repeats_now += sum(len(b) for cases in weighed.cases for _, b in cases)
    found = []
    for kind, target in _targets(weighed.measured):
        aim = Aim(target=target, level=level, power=options.power)
        plan = Plan(
            kind="margin" if kind == "margin" else "seen",
            target=target,
            tasks=tasks_needed(seen, aim, bounded=bounded),
            repeats=repeats_needed(seen, aim),
            tasks_now=seen.tasks,
            repeats_now=repeats_now / 2 / sum(map(len, weighed.cases)),
        )
        found.append(plan)
    return found


def _targets(measured: Measured) -> Iterator[tuple[str, float]]:
    margin, difference = measured.margin or 0.0, abs(measured.difference or 0.0)
    if difference > margin:
        yield "seen", difference
    if margin > 0:
        yield "margin", margin
