"""The open tasks of a set for a search: split into two halves, and scored."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from uwf_core.client import Client
from uwf_core.commands import Session
from uwf_core.errors import ExitCode, RunInterrupted, UsageError, UwfError
from uwf_eval.records import Trial
from uwf_eval.run.run_loop import LEFT
from uwf_improve.sealed.catalog import Sets
from uwf_improve.sealed.trials import Match, match_once

LEAST: Final = 4
_TRIES: Final = 3
"""So often trials with an infrastructure error are run again in one call."""


class Halves(NamedTuple):
    """Names of open tasks: those of which a search reads the trials, and those that rank
    candidates.
    """

    train: Sequence[str]
    rank: Sequence[str]


def halves_of(client: Client, name: str) -> Halves:
    """The open tasks of a set in two halves; tasks of one source are in the same one.

    Raises:
        UnknownIdError: unknown set. UsageError: it has too few open tasks.
    """
    tasks = [each for each in Sets(client).read(name).tasks if each.side == "open"]
    units = sorted({each.unit for each in tasks}, key=_digest)
    if len(units) < LEAST:
        raise UsageError(
            f"the set {name!r} has {len(units)} open tasks of different sources; a search needs "
            f"{LEAST}",
            hint=f"`uwf improve seal {name} TASK... --add` adds tasks; the first are sealed",
        )
    first = {*units[: len(units) // 2]}
    return Halves(
        train=[each.name for each in tasks if each.unit in first],
        rank=[each.name for each in tasks if each.unit not in first],
    )


class OpenTasks:
    """Scores versions of a workflow on open tasks. The same request is the same run, so a search
    that starts again gets the trials that it had.

    Args:
        set_: the set. match: how the trials run; its `name` is that of the search.
    """

    def __init__(self, session: Session, client: Client, set_: str, match: Match) -> None:
        self._session, self._client, self._match = session, client, match
        self._folder = Sets(client).folder(set_) / "tasks"

    def scored(self, version: str, names: Sequence[str]) -> list[Trial]:
        """The trials of a version on these tasks, in their order.

        Raises:
            UsageError: a trial has no score. UwfError: they were interrupted, or have
                infrastructure errors again and again, which count as nothing.
        """
        own = list(dict.fromkeys(names))
        match = replace(
            self._match, tasks=[str(Path(self._folder, each)) for each in own],
            workflows=[version],
        )  # fmt: skip
        trials = self._complete(match)
        unscored = [each.cell.task for each in trials if each.score is None]
        if unscored:
            raise UsageError(
                f"trials of the task {unscored[0]!r} have no score",
                hint="a search needs judges that count in each task",
            )
        by_task = {each.cell.task: each for each in trials}
        return [by_task[name] for name in names]

    def _complete(self, match: Match) -> Sequence[Trial]:
        for _ in range(_TRIES):
            outcome = match_once(self._session, self._client, match)
            if outcome.code == ExitCode.INTERRUPTED:
                raise RunInterrupted(
                    "the search was interrupted; its trials are kept",
                    hint="the same command continues it",
                )
            if not any(each.state in LEFT for each in outcome.trials):
                return outcome.trials
        failed = next(each for each in outcome.trials if each.state in LEFT)
        why = failed.failure.message if failed.failure else failed.state
        raise UwfError(
            f"the search stops, its trials are kept: {why}", where=f"run {outcome.run}",
            hint="the same command continues it",
        )  # fmt: skip


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
