"""`uwf thread list`: its options, filters and columns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import Moment
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session, now_ms
from uwf_core.errors import FailureKind, UsageError

if TYPE_CHECKING:
    from uwf_core.views.thread_list import ThreadFilter


def filter_options(function: Any) -> Any:
    """The options that select threads: of list, rm and cancel."""
    when = Moment()
    for name, metavar, kind, text in reversed(
        (
            ("--status", "S,…", None, "Only these statuses; `active` is idle or running."),
            ("--workflow", "W", None, "Only threads of this workflow (name or reference)."),
            ("--tag", "KEY=VALUE", None, "Only threads with this tag (may be repeated)."),
            ("--role", "ROLE", None, "Only threads that are at this role, or wait there."),
            ("--agent", "AGENT", None, "Only threads with a step of this agent, or bound to it."),
            ("--failure", "KIND", None, "Only threads that wait for a failure of this kind."),
            ("--text", "TEXT", None, "Only threads with this text in their task."),
            ("--after", "WHEN", when, "Only threads started after a date, or 7d, 12h."),
            ("--before", "WHEN", when, "Only threads started before."),
        )
    ):
        is_tag = name == "--tag"
        own: dict[str, Any] = {"multiple": True} if is_tag else {}
        function = click.option(name, metavar=metavar, type=kind, help=text, **own)(function)
    return function


def thread_filter(
    *,
    status: str | None,
    tag: Sequence[str],
    after: int | None,
    before: int | None,
    **others: Any,
) -> "ThreadFilter":
    """The filter of these options.

    Raises:
        UsageError: an unknown status or kind of failure, or a wrong tag.
    """
    from uwf_core.views.thread_list import ThreadFilter

    tags: dict[str, str] = {}
    if tag:
        from uwf_core.thread.tags import parse_tags

        tags = parse_tags(tag)
    if others["failure"] is not None:
        _check_kind(others["failure"])
    statuses = _statuses(status)
    return ThreadFilter(statuses=statuses, after_ms=after, before_ms=before, tags=tags, **others)


def _check_kind(kind: str) -> None:
    known = [each.word for each in FailureKind]
    if kind not in known:
        raise UsageError(f"unknown kind of failure {kind!r}", hint=f"use one of {', '.join(known)}")


@command(
    "list",
    "uwf thread list",
    "uwf thread list --all --after 7d",
    "uwf thread list --status suspended,idle --workflow fix-bug",
    "uwf thread list --failure rate_limited --tag team=web",
)
@click.option("-a", "--all", "everything", is_flag=True, help="Also show finished threads.")
@filter_options
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N.")
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Skip the first N."
)
@click.option("--children", is_flag=True, help="Also show threads that other threads called.")
@click.option("--trials", is_flag=True, help="Also show threads of the trials of uwf-eval.")
def list_(session: Session, everything: bool, **options: Any) -> None:
    """List threads, newest first; finished ones only with --all or --status.

    A thread that calls another shows the state of that one; --children lists it as well.
    """
    from uwf_core.views.thread_list import thread_rows

    chosen = thread_filter(all=everything, **options)
    session.emit_rows("threads", thread_rows(session.engine, chosen), threads_text)


def _statuses(words: str | None) -> "tuple[str, ...]":
    """The statuses that --status names.

    Raises:
        UsageError: one of them is unknown.
    """
    from uwf_core.thread.names import STATUSES

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
                hint=f"use one or more of {', '.join(STATUSES)}, active",
            )
    return tuple(dict.fromkeys(chosen))


_COLUMNS = (
    Column("thread", "THREAD"),
    Column("status", "STATUS", status=True),
    Column("workflowName", "WORKFLOW", least=8, rank=2),
    Column("task", "TASK", least=40, rank=6, below=True),
    Column("role", "ROLE", least=5, rank=5),
    Column("reason", "REASON", below=True),
    Column("steps", "STEPS", rank=8, right=True),
    Column("cost", "COST", rank=7, right=True),
    Column("updated", "UPDATED", rank=4, right=True),
    Column("parent", "CALLED BY", rank=8),
    Column("original", "ORIGINAL", rank=9),
    Column("folder", "FOLDER", least=12, rank=10),
)


def threads_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `thread list`. A column in which no row has anything is left out."""
    threads: Sequence[Mapping[str, Any]] = document["threads"]
    if not threads:
        return "no unfinished threads; next: uwf thread list --all"
    now = now_ms()
    rows = [
        {
            **each,
            "role": each["suspendedRole"] or each["currentRole"],
            "reason": _reason(each),
            "folder": each["cwd"] or None,
            "cost": amounts.cost(each["usage"]),
            "tagged": ", ".join(f"{k}={v}" for k, v in each["tags"].items()) or None,
            "updated": amounts.ago(each["updatedAtMs"], now),
        }
        for each in threads
    ]
    columns = [each for each in _COLUMNS if any(row[each.key] is not None for row in rows)]
    return table(columns, rows, screen)


def _reason(row: Mapping[str, Any]) -> str | None:
    """Why a thread waits: the kind of reason, and its message."""
    parts = [row["suspendReason"], row["suspendMessage"]]
    return ": ".join(filter(None, parts)) or None
