"""`uwf thread show` and `uwf thread list`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import Moment, thread_argument
from uwf_core.errors import UsageError


@command("show", "uwf thread show @last", "uwf thread show 01JD8 --format json")
@thread_argument()
def show(session: Session, thread: str) -> None:
    """Show the status of a thread, the reason of a suspension and the next command.

    THREAD is an id, a unique prefix of one, or @last.
    """
    from uwf_core.cli.render.thread import thread_text
    from uwf_core.views.show import show_thread

    session.emit(show_thread(session.engine, thread), thread_text)


@command(
    "list",
    "uwf thread list",
    "uwf thread list --all --after 7d",
    "uwf thread list --status suspended,idle --workflow fix-bug",
)
@click.option("-a", "--all", "everything", is_flag=True, help="Also show finished threads.")
@click.option("--status", metavar="S,…", help="Only these statuses; `active` is idle or running.")
@click.option(
    "--after", type=Moment(), metavar="WHEN", help="Only threads started after a date, or 7d, 12h."
)
@click.option("--before", type=Moment(), metavar="WHEN", help="Only threads started before.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N.")
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Skip the first N."
)
@click.option("--workflow", metavar="W", help="Only threads of this workflow (name or reference).")
def list_(
    session: Session,
    everything: bool,
    status: str | None,
    after: int | None,
    before: int | None,
    limit: int | None,
    offset: int,
    workflow: str | None,
) -> None:
    """List threads, newest first; finished ones only with --all or --status."""
    from uwf_core.cli.render.thread import threads_text
    from uwf_core.views.show import ThreadFilter, list_threads

    chosen = ThreadFilter(
        all=everything,
        statuses=_statuses(status),
        after_ms=after,
        before_ms=before,
        limit=limit,
        offset=offset,
        workflow=workflow,
    )
    session.emit({"threads": list_threads(session.engine, chosen)}, threads_text)


def _statuses(words: str | None) -> "tuple[str, ...]":
    """The statuses that --status names.

    Raises:
        UsageError: one of them is unknown.
    """
    from uwf_core.thread.status import STATUSES

    chosen: list[str] = []
    for word in (words or "").split(","):
        word = word.strip()
        if word == "active":
            chosen += ["idle", "running"]
        elif word in STATUSES:
            chosen.append(word)
        elif word or words is not None:
            raise UsageError(
                f"unknown status {word!r}",
                hint=f"use use one or more of {', '.join(STATUSES)}, active",
            )
    return tuple(dict.fromkeys(chosen))
