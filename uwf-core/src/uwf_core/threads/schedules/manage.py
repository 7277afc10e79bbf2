"""What `uwf schedule` does."""

import re
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.errors import UsageError
from uwf_core.process.identity import hostname
from uwf_core.thread.names import ANY_HOST, HOST
from uwf_core.threads.background import run_unattended
from uwf_core.threads.schedules.firing import fire_now
from uwf_core.threads.schedules.stored import (
    Schedule,
    Stored,
    all_schedules,
    find_row,
    find_schedule,
    new_schedule,
)
from uwf_core.threads.schedules.times import Missed, Overlap, next_time
from uwf_core.threads.start import StartOptions, check_start

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_LATER = ("thread", "queue")
"""The options of a start that a plan leaves open."""


class ScheduleDocument(NamedTuple):
    """A schedule as commands print it; `state` is active, paused or failing."""

    name: str
    cron: str
    time_zone: str
    state: str
    next_at_ms: int | None
    missed: Missed
    overlap: Overlap
    host: str | None
    queue: bool
    workflow: str
    prompt: str
    cwd: str
    thread: str | None
    fired_at_ms: int | None
    waiting: int
    skipped: str | None
    error: str | None


def _document(engine: "Engine", stored: Stored) -> ScheduleDocument:
    one, plan = stored.schedule, stored.plan(engine.store)
    state = "paused" if one.is_paused else "failing" if one.error else "active"
    following = None if one.is_paused else one.next_at_ms
    return ScheduleDocument(
        *(one.name, one.cron, one.time_zone, state, following, one.missed, one.overlap),
        *(one.host, one.queue, plan["workflow"], plan["prompt"], plan["cwd"], one.thread),
        *(one.fired_at_ms, one.waiting, one.skipped, one.error),
    )


def add_schedule(
    engine: "Engine", watch: "Watch", name: str, cron: str, zone: str, missed: Missed,
    overlap: Overlap, options: StartOptions,
) -> ScheduleDocument:  # fmt: skip
    """Add a schedule.

    Raises:
        UsageError: a wrong name, expression or time zone. WrongStateError: the name is used.
        Else as `start_thread`.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a schedule",
            hint="use at most 64 lower-case letters, digits, `.`, `_` and `-`",
        )
    following = next_time(cron, zone, engine.now_ms())
    check_start(engine, options, watch)
    if options.queue:
        from uwf_core.engine.dispatching import dispatch_backend  # for threads of workers

        dispatch_backend(engine)
    is_anywhere = not engine.has_workers or options.tags.get(HOST) == ANY_HOST
    host = None if is_anywhere else hostname()
    fields = {key: value for key, value in options._asdict().items() if key not in _LATER}
    plan = engine.redactor.value({**fields, "folder": engine.cwd})
    new = Schedule(name, cron, zone, missed, overlap, host, options.queue, following)
    return _document(engine, new_schedule(engine.store, new, plan))


def list_schedules(engine: "Engine") -> list[ScheduleDocument]:
    """The schedules of the store."""
    return [_document(engine, each) for each in all_schedules(engine.store)]


def pause_schedule(engine: "Engine", name: str) -> ScheduleDocument:
    """Let a schedule start nothing."""
    stored = find_schedule(engine.store, name)
    after = stored.schedule._replace(is_paused=True)
    return _document(engine, stored.save(engine.store, after))


def resume_schedule(engine: "Engine", name: str) -> ScheduleDocument:
    """Let a schedule start threads again, from its next time on."""
    stored = find_schedule(engine.store, name)
    one = stored.schedule
    following = next_time(one.cron, one.time_zone, engine.now_ms())
    after = one._replace(is_paused=False, next_at_ms=following, waiting=0)
    return _document(engine, stored.save(engine.store, after))


def remove_schedule(engine: "Engine", name: str) -> str:
    """Delete a schedule, also one that is damaged."""
    engine.store.delete_variable(find_row(engine.store, name))
    return name


def run_schedule(engine: "Engine", watch: "Watch", name: str) -> ScheduleDocument:
    """Start the thread of a schedule now; if the process dies before it runs, `tick` runs it."""
    stored = fire_now(engine, watch, name)
    if not stored.schedule.queue and stored.schedule.thread is not None:
        run_unattended(engine, stored.schedule.thread)
    return _document(engine, stored)
