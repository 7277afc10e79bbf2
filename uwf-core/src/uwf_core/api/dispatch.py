"""The dispatch contract: what a store keeps for workers, programs that run threads of many people.

A *dispatch row* says of a thread whether there is something to run and what a worker needs for it.
The transaction that makes it so writes it, so the row is never lost; a queue only wakes workers.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

Request = Literal["stop"]
"""What a person asks of the worker that runs a thread."""


class Dispatch(NamedTuple):
    """The row of a thread as a transaction writes it.

    Attributes:
        thread: its id.
        seq: the number of its events so far. A worker that finds more looks anew.
        is_wanted: whether there is something to run.
        needs: labels that a worker must have, sorted (`agent:builtin`, `host:vm`).
        uses: labels that count against limits: `needs`, and the model (`model:fast`).
        not_before_ms: when it may be run, in ms since 1970; 0: at once.
        priority: the larger first, then the one that has waited longest.
        group: the threads of one fan-out, of which at most `most` run at a time; None: no limit.
        caller: the thread that waits for the end of this one, and of its group: when they have
            ended, its row becomes wanted, if it has one.
        is_ended: the thread is completed or cancelled; its row is deleted.
        moves_at_ms: from then on, in ms since 1970, it does not need its label `host:…`, that of
            the session which its next role continues; 0: it needs all labels.
    """

    thread: str
    seq: int
    is_wanted: bool
    needs: Sequence[str] = ()
    uses: Sequence[str] = ()
    not_before_ms: int = 0
    priority: int = 0
    group: str | None = None
    most: int = 0
    caller: str | None = None
    is_ended: bool = False
    moves_at_ms: int = 0


class Claim(NamedTuple):
    """A thread that a worker may run until its lease expires.

    Attributes:
        thread, seq: as in `Dispatch`.
        token: of this claim; another worker that takes over has another one.
        version: of the row; each write increases it.
        said: what a person said with `--queue` and no step has recorded, as JSON; None: nothing.
    """

    thread: str
    seq: int
    token: int
    version: int
    said: str | None


class WorkerRow(NamedTuple):
    """A worker as others see it.

    Attributes:
        id: unique. host, pid, start: its process.
        labels: what it has. state: `running`, `draining`, or `lost` if its lease expired.
        jobs: how many it has ended. thread: what it runs now.
        since_ms, seen_ms: when it began and was last seen, in ms since 1970.
    """

    id: str
    host: str
    pid: int
    start: str
    labels: Sequence[str]
    state: str
    jobs: int
    thread: str | None
    since_ms: int
    seen_ms: int


class WaitingRow(NamedTuple):
    """A row that nobody runs now: its labels, when it may be run, the last error of a worker, and
    whether a live worker has all its labels, or will have when the thread may move to any machine,
    at `moves_at_ms` (0: it does not move).
    """

    thread: str
    needs: Sequence[str]
    not_before_ms: int
    error: str | None
    can_run: bool
    moves_at_ms: int = 0


@runtime_checkable
class DispatchBackend(Protocol):
    """An optional extension of a `CommitBackend`: it keeps dispatch rows, beside the nodes and
    variables. `Commit.dispatch` writes them with a step. Times are those of the server's clock.
    """

    def dispatch(self, rows: Sequence[Dispatch]) -> None:
        """Write rows, within a transaction."""

    def say(self, row: Dispatch, said: str) -> None:
        """Write a row, within a transaction, with what a person said for the next run. It is kept
        until the thread has another `seq`.
        """

    def claim(
        self,
        worker: str,
        labels: Collection[str],
        limits: Mapping[str, int],
        thread: str | None = None,
    ) -> Claim | None:
        """Claim a wanted row (of `thread`) without a live lease whose needs are among `labels`, by
        priority, then by the time since which it could be run; None if there is none. `limits`: how
        many claims with a label may live at a time; threads without room keep no others waiting.
        """

    def settle(self, claim: Claim, row: Dispatch, error: str | None, *, keeps: bool) -> bool:
        """End a claim and write the row, unless it has another version than `claim` by now: then
        nothing happens, and the result is False. `keeps`: what a person said stays.
        """

    def release(self, claim: Claim) -> None:
        """End a claim; the row stays as it is."""

    def row(self, thread: str) -> Claim | None:
        """The row of a thread as a claim of nobody (token 0), None if it has none."""

    def beat(self, worker: WorkerRow) -> Request | Literal["drain"] | None:
        """Register a worker, or renew it and its claim; what is asked of it."""

    def leave(self, worker: str) -> None:
        """Forget a worker, and free its claim."""

    def due(
        self,
        labels: Collection[str],
        limits: Mapping[str, int],
        limit: int,
        quiet_seconds: float,
    ) -> list[tuple[str, Sequence[str]]]:
        """Threads that could be run now by a worker with these labels, and their needs, for which
        no hint was given in the last `quiet_seconds`. From now on one counts as given. Those that
        waited for room under `limits` are among them once there is some.
        """

    def request(self, thread: str, request: Request) -> Literal["asked", "rested"] | None:
        """Ask the worker that runs a thread. If no worker does, the row is not wanted any more
        (`rested`); None: it was not.
        """

    def drain(self, worker: str | None) -> int:
        """Ask a worker (None: all) to end after its step; how many were asked."""

    def workers(self, host: str | None = None) -> list[WorkerRow]:
        """The workers (of a machine) that were seen within the last day."""

    def waiting(self, limit: int, *, unserved: bool = False) -> list[WaitingRow]:
        """Wanted rows that nobody runs now, by priority; `unserved`: only those whose labels no
        live worker has.
        """

    def queued_among(self, threads: Collection[str]) -> set[str]:
        """Those of `threads` that are wanted, or that a worker runs."""
