"""What the judges said on average, and how far they agree with themselves."""

from collections.abc import Sequence

from uwf_core.api.record import record
from uwf_eval.report.amounts import Amount, amount
from uwf_eval.report.estimates import Mean, mean_of
from uwf_eval.report.leaves import Clustering, JudgeLeaf, Leaf


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


def judges_of(leaves: Sequence[Leaf], clustering: Clustering) -> Sequence[JudgeShare]:
    """Every judge of these leaves, the one that counts most first."""
    found: dict[tuple[str, str], list[tuple[Leaf, JudgeLeaf]]] = {}
    for leaf in leaves:
        for key, said in leaf.judges.items():
            found.setdefault(key, []).append((leaf, said))
    shares = [_share(name, judge, said, clustering) for (name, judge), said in found.items()]
    return sorted(shares, key=lambda each: (each.weight == 0, -each.tasks, each.name))


def _share(
    name: str, judge: str, said: Sequence[tuple[Leaf, JudgeLeaf]], clustering: Clustering
) -> JudgeShare:
    agreements = [one for _, each in said for one in each.agreements]
    errors = [one for _, each in said for one in each.errors]
    return JudgeShare(
        name=name,
        judge=judge,
        weight=max(each.weight for _, each in said),
        tasks=len({leaf.cell.task for leaf, _ in said}),
        score=mean_of(clustering.groups((leaf, each.scores) for leaf, each in said)),
        failed=len(errors),
        error=errors[0] if errors else None,
        agreement=sum(agreements) / len(agreements) if agreements else None,
        repeated=len(agreements),
        cost=amount([one for _, each in said for one in each.costs]),
    )
