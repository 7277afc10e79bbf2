"""`uwf worker status` and `drain`."""

import time
from collections.abc import Mapping
from typing import Any

import click

from uwf_core.commands import (
    Column,
    Screen,
    Session,
    ago,
    command,
    moment,
    table,
    working_folder,
)

_MOST = 1000
_COLUMNS = (
    Column("worker", "worker"),
    Column("state", "state"),
    Column("jobs", "jobs", right=True, rank=3),
    Column("thread", "thread"),
    Column("seen", "seen", rank=2),
)


@command("status", "uwf worker status", "uwf worker status --format json")
def status(session: Session) -> None:
    """Show the workers of the store, and the threads that wait for one.

    A thread that no live worker can run is shown with the labels that are missing, and what to do.
    `uwf inbox` shows it as well.
    """
    from uwf_core.client import Client

    with Client.open(cwd=working_folder()) as client:
        backend = client.queued.backend
        document = {
            "workers": [
                {
                    "worker": each.id,
                    "host": each.host,
                    "pid": each.pid,
                    "state": each.state,
                    "labels": [*each.labels],
                    "jobs": each.jobs,
                    "thread": each.thread,
                    "startedAtMs": each.since_ms,
                    "seenAtMs": each.seen_ms,
                }
                for each in backend.workers()
            ],
            "waiting": [
                {
                    "thread": each.thread,
                    "needs": [*each.needs],
                    "notBeforeMs": each.not_before_ms or None,
                    "movesAtMs": each.moves_at_ms or None,
                    "error": each.error,
                    "canRun": each.can_run,
                    "missing": [*lacking.missing] if lacking else [],
                    "message": lacking.message if lacking else None,
                    "next": lacking.command if lacking else None,
                }
                for each, lacking in client.queued.waiting(_MOST)
            ],
        }
    session.emit(document, _text)


def _text(document: Mapping[str, Any], screen: Screen) -> str:
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


@command("drain", "uwf worker drain --all", "uwf worker drain WORKER", logged=True)
@click.argument("worker", metavar="WORKER", required=False)
@click.option("--all", "everyone", is_flag=True, help="All workers of the store.")
def drain(session: Session, worker: str | None, everyone: bool) -> None:
    """Let a worker end after its step; `uwf worker status` lists them."""
    from uwf_core.client import Client
    from uwf_core.errors import UnknownIdError, UsageError

    if (worker is None) is not everyone:
        raise UsageError("name one worker, or use --all", hint="next: uwf worker status")
    with Client.open(cwd=working_folder()) as client:
        count = client.queued.backend.drain(worker)
    if worker is not None and not count:
        raise UnknownIdError(f"no worker {worker!r} runs", hint="next: uwf worker status")
    session.emit({"asked": count}, lambda shown, _: f"asked {shown['asked']} to end")
