"""Search with GEPA on the open tasks of a set. The only module that imports `gepa` (the extra).

GEPA chooses which version is changed next and keeps what scores better, by its own rule. That is a
search: its scores are claims, and `decide` tests its winner like any other edit. Nothing of it is
saved in a file: with the same trials and answers it takes the same way again, and both are in the
store.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch
from gepa.core.result import GEPAResult

from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_eval.records import Trial
from uwf_improve.search.candidates import Candidates, Origin
from uwf_improve.search.open_tasks import Halves, OpenTasks
from uwf_improve.search.proposer import Proposer, trial_records

_BATCH: Final = 3
"""A version is first compared with the one before it on so many tasks."""
_TRIALS: Final = "trials"


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The end of a search: what it claims, on the tasks that it used.

    Attributes:
        texts: of the best version. trials: that it took. versions: that it kept, the first one too.
        before, after: the mean score of the first and of the best version on the ranking half.
        why: the reason for the last change, by the agent.
    """

    texts: Mapping[str, str]
    trials: int
    versions: int
    before: float
    after: float
    why: str


class SearchStopped(BaseException):
    """An error on its way through GEPA, which turns an `Exception` of a proposal into a version
    without a change and continues: a network that is down would look like a bad idea.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a search works with."""

    client: Client
    origin: Origin
    halves: Halves
    candidates: Candidates
    tasks: OpenTasks
    proposer: Proposer


def search(bench: Bench, most: int) -> Searched:
    """Search for better texts with at most `most` trials.

    Raises:
        UsageError: too few trials for a search. UwfError: it stopped; the same call continues it.
    """
    halves = bench.halves
    batch = min(_BATCH, len(halves.train))
    round_ = 2 * batch + len(halves.rank)
    if most < len(halves.rank) + round_:
        raise UsageError(
            f"{most} trials are too few for a search on {len(halves.rank)} + {len(halves.train)} "
            "open tasks",
            where="--gepa", hint=f"type {len(halves.rank) + round_} or more",
        )  # fmt: skip
    adapter: Any = _Adapter(bench)
    try:
        result: GEPAResult[Any, Any] = optimize(
            seed_candidate=dict(bench.origin.texts), trainset=list(halves.train),
            valset=list(halves.rank), adapter=adapter,
            custom_candidate_proposer=_proposals(bench.proposer), module_selector="all",
            reflection_minibatch_size=batch, logger=_Silent(), track_best_outputs=False,
            stop_callbacks=lambda state: state.total_num_evals + round_ > most,
        )  # fmt: skip
    except SearchStopped as stopped:
        raise stopped.error from stopped
    return _searched(result, bench.proposer)


def _searched(result: GEPAResult[Any, Any], proposer: Proposer) -> Searched:
    best = result.candidates[result.best_idx]
    return Searched(
        texts=best,
        trials=result.total_metric_calls or 0,
        versions=len(result.candidates),
        before=result.val_aggregate_scores[0],
        after=result.val_aggregate_scores[result.best_idx],
        why=proposer.reasons.get(tuple(sorted(best.items())), ""),
    )


class _Adapter:
    """What GEPA asks for: scores of texts on tasks, and what its proposer may read."""

    propose_new_texts = None

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def evaluate(
        self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Trial, str]:
        with _through_gepa():
            trials = self._bench.tasks.scored(self._bench.candidates.version(candidate), batch)
        return EvaluationBatch(
            outputs=[f"{each.run}/{each.number}" for each in trials],
            scores=[each.score or 0.0 for each in trials],  # each has one
            trajectories=trials if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[Trial, str],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        with _through_gepa():
            return {_TRIALS: list(trial_records(self._bench.client, eval_batch.trajectories or []))}


def _proposals(proposer: Proposer) -> Any:
    def propose(
        candidate: dict[str, str],
        dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        with _through_gepa():
            return proposer.propose(candidate, dataset[_TRIALS])

    return propose


@contextmanager
def _through_gepa() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise SearchStopped(error) from error


class _Silent:
    """GEPA's own messages, which go nowhere: uwf prints the progress of each run of trials."""

    def log(self, message: str) -> None:
        pass
