"""What the judges said on average, and how far they agree with themselves."""

from collections.abc import Iterable, Mapping, Sequence

from uwf_core.api.record import record
from uwf_eval.records import JudgeResult, Trial
from uwf_eval.report.amounts import Amount, amount
from uwf_eval.report.estimates import Mean, mean_of


@record
class JudgeShare:
    """What one judge said in all trials.

    Attributes:
        name: as tasks call it. judge: what it is. A judge that tasks call alike is one judge.
        weight: in the trial's score; the highest where tasks differ; 0: informational.
        score: mean of its scores, clustered as the trials' scores are.
        failed: how often it failed and gave no score. error: what it said then, for example.
        agreement: mean of its agreement with itself over the `repeated` trials in which it was
            asked more than once; None where it never was.
        cost: of its own model calls.
    """

    name: str
    judge: str
    weight: float
    tasks: int
    score: Mean
    failed: int
    error: str | None
    agreement: float | None
    repeated: int
    cost: Amount


class _Said:
    """What is known of one judge."""

    def __init__(self) -> None:
        self.results: list[JudgeResult] = []
        self.scores: list[tuple[str, float]] = []
        self.tasks: set[str] = set()


def judges_of(trials: Iterable[Trial], clusters: Mapping[int, str]) -> Sequence[JudgeShare]:
    """Every judge of these trials, the one that counts most first.

    Args:
        trials: ended trials.
        clusters: the cluster of each trial by its number.
    """
    found: dict[tuple[str, str], _Said] = {}
    for trial in trials:
        for result in trial.judges:
            said = found.get((result.name, result.judge))
            if said is None:
                said = found[result.name, result.judge] = _Said()
            said.results.append(result)
            said.tasks.add(trial.cell.task)
            if result.score is not None:
                said.scores.append((clusters[trial.number], result.score))
    shares = [_share(name, judge, said) for (name, judge), said in found.items()]
    return sorted(shares, key=lambda each: (each.weight == 0, -each.tasks, each.name))


def _share(name: str, judge: str, said: _Said) -> JudgeShare:
    agreements = [each.agreement for each in said.results if each.agreement is not None]
    errors = [each.error for each in said.results if each.error is not None]
    return JudgeShare(
        name=name,
        judge=judge,
        weight=max(each.weight for each in said.results),
        tasks=len(said.tasks),
        score=mean_of(said.scores),
        failed=len(errors),
        error=errors[0] if errors else None,
        agreement=sum(agreements) / len(agreements) if agreements else None,
        repeated=len(agreements),
        cost=amount([each.usage.cost_usd for each in said.results]),
    )
