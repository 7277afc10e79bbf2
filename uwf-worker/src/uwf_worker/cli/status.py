"""What `uwf worker status`, `drain` and `migrate` do."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.commands import Column, Screen, ago, moment, table
from uwf_core.errors import UnknownIdError, UsageError

if TYPE_CHECKING:
    from uwf_core.client import Client

_MOST = 1000
_COLUMNS = (
    Column("worker", "worker"),
    Column("state", "state"),
    Column("jobs", "jobs", right=True, rank=3),
    Column("thread", "thread"),
    Column("seen", "seen", rank=2),
)


class WorkerDocument(NamedTuple):
    """A worker, its process, what it has, and what it runs."""

    worker: str
    host: str
    pid: int
    state: str
    labels: Sequence[str]
    jobs: int
    thread: str | None
    started_at_ms: int
    seen_at_ms: int


class WaitingDocument(NamedTuple):
    """A thread that waits for a worker, and, if no live one can run it, what is missing."""

    thread: str
    needs: Sequence[str]
    not_before_ms: int | None
    moves_at_ms: int | None
    error: str | None
    can_run: bool
    missing: Sequence[str]
    message: str | None
    next: str | None


class StatusDocument(NamedTuple):
    """The workers of a store, and the threads that wait for one."""

    workers: list[WorkerDocument]
    waiting: list[WaitingDocument]


def status(client: "Client") -> StatusDocument:
    """The workers of the store, and the threads that wait for one."""
    return StatusDocument(
        [
            WorkerDocument(
                *(each.id, each.host, each.pid, each.state, each.labels, each.jobs, each.thread),
                *(each.since_ms, each.seen_ms),
            )
            for each in client.queued.backend.workers()
        ],
        [
            WaitingDocument(
                *(each.thread, each.needs, each.not_before_ms or None, each.moves_at_ms or None),
                *(each.error, each.can_run),
                *((gap.missing, gap.message, gap.command) if gap else ((), None, None)),
            )
            for each, gap in client.queued.waiting(_MOST)
        ],
    )


def drain(client: "Client", worker: str | None, *, all: bool) -> int:
    """Let workers end after their steps; how many were asked."""
    if (worker is None) is not all:
        raise UsageError("name one worker, or use --all", hint="next: uwf worker status")
    count = client.queued.backend.drain(worker)
    if worker is not None and not count:
        raise UnknownIdError(f"no worker {worker!r} runs", hint="next: uwf worker status")
    return count


def migrate(client: "Client") -> list[str]:
    """Create the tables of workers; what was applied."""
    from uwf_worker.cli.opening import place_of_store
    from uwf_worker.migrating import migrate_queue

    return migrate_queue(place_of_store(client))


def applied_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`worker migrate`."""
    return ", ".join(document["applied"]) or "up to date"


def status_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`worker status`."""
    workers, waiting = document["workers"], document["waiting"]
    lines = []
    if workers:
        now = int(time.time() * 1000)
        rows = [{**each, "seen": ago(each["seenAtMs"], now)} for each in workers]
        lines.append(table(_COLUMNS, rows, screen))
    else:
        lines.append("no worker was seen within a day; next: uwf worker start")
    for each in waiting:
        needs = ", ".join(each["needs"]) or "a worker"
        until = each["movesAtMs"]
        moves = f"; on any machine from {moment(until)} on" if until else ""
        later = each["notBeforeMs"]
        after = f", not before {moment(later)}" if later else ""
        lines.append(f"{each['thread']} waits for {needs}{after}{moves}")
        if later:
            again = f"  at once: uwf thread exec {each['thread']} --queue"
            lines.append(screen.paint(again, "dim"))
        if each["error"]:
            lines.append(f"  {each['error']}")
        if not each["canRun"]:
            lines += [f"  {each['message']}", screen.paint(f"  next: {each['next']}", "dim")]
    return "\n".join(lines)
