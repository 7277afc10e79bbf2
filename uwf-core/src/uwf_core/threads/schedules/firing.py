"""Fire schedules: start the threads of those that are due."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.engine.notices import mark_due
from uwf_core.engine.open_engine import open_engine
from uwf_core.errors import BusyError, StoreError, UnknownIdError, UsageError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.process.identity import hostname
from uwf_core.process.leftovers import ATTEMPT_VARIABLE
from uwf_core.thread.head import mark_unattended, read_head
from uwf_core.thread.names import FINISHED, SCHEDULES
from uwf_core.threads.schedules.stored import TAG, Schedule, Stored, find_schedule
from uwf_core.threads.schedules.times import Timing, decide, next_time
from uwf_core.threads.start import StartOptions, start_thread

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch

_AGAIN_MS = 60_000
"""When to look again at a schedule whose times are unknown on this machine."""
_LONGEST_ERROR = 2000


class Fired(NamedTuple):
    """What became of a schedule in a pass.

    Attributes:
        name: of the schedule. thread: the one that was created, None: it was not due.
        error: why none was. next_ms: when it is due next, None: unknown, or it is paused.
    """

    name: str
    thread: str | None
    error: str | None
    next_ms: int | None


def fire_schedules(
    engine: "Engine", watch: "Watch", *, only_queued: bool = False
) -> Iterator[Fired]:
    """Start the threads of the schedules that are due. Several processes may do so.

    Args:
        engine: the engine. watch: gets notices.
        only_queued: only those whose threads workers run.

    Raises:
        StoreError: the store cannot be reached.
    """
    for row in engine.store.rows(SCHEDULES):
        name = row.name.removeprefix(SCHEDULES)
        try:
            stored = find_schedule(engine.store, name)
            if stored.schedule.queue or not only_queued:
                yield _fire(engine, watch, stored)
        except (BusyError, UnknownIdError):  # another process was quicker
            continue
        except UwfError as error:
            yield Fired(name, None, _words(engine, error), None)


def _fire(engine: "Engine", watch: "Watch", stored: Stored) -> Fired:
    """Start the thread of a schedule if it is due. Its next time and the thread are one
    transaction: of two processes one starts it, and a crash leaves both or none.

    Raises:
        BusyError: another process was quicker. StoreError: the store cannot be reached, or what
            it has of the schedule is damaged.
    """
    one, now_ms = stored.schedule, engine.now_ms()
    if not _may_fire(one, now_ms):
        return _fired(one)
    try:
        plan = stored.plan(engine.store)
        with _engine_in(engine, plan["folder"]) as other, other.store.transaction():
            return _decided(other, watch, find_schedule(other.store, one.name), plan, now_ms)
    except (StoreError, BusyError):
        raise
    except UwfError as error:  # of this schedule alone: its folder, its workflow, its expression
        following, words = _following(one, now_ms), _words(engine, error)
        stored.save(engine.store, one._replace(next_at_ms=following, error=words))
        return Fired(one.name, None, words, following)


def _may_fire(one: Schedule, now_ms: int) -> bool:
    is_due = one.next_at_ms <= now_ms or one.waiting > 0
    return is_due and not one.is_paused and one.host in (None, hostname())


def _fired(one: Schedule, *, is_new: bool = False) -> Fired:
    following = None if one.is_paused else one.next_at_ms
    return Fired(one.name, one.thread if is_new else None, None, following)


def fire_now(engine: "Engine", watch: "Watch", name: str) -> Stored:
    """Start the thread of a schedule beside its times, also while another one is open.

    Raises:
        UwfError: as `start_thread`; nothing was started.
    """
    plan = find_schedule(engine.store, name).plan(engine.store)
    with _engine_in(engine, plan["folder"]) as other, other.store.transaction():
        stored = find_schedule(other.store, name)
        return stored.save(other.store, _started(other, watch, stored.schedule, plan))


def _decided(
    engine: "Engine", watch: "Watch", stored: Stored, plan: Mapping[str, Any], now_ms: int
) -> Fired:
    one = stored.schedule
    if not _may_fire(one, now_ms):  # another process was quicker
        return _fired(one)
    timing = Timing(one.cron, one.time_zone, one.missed, one.overlap, one.next_at_ms, one.waiting)
    decision = decide(timing, now_ms, is_open=_is_open(engine, one))
    after = one._replace(
        next_at_ms=decision.next_ms,
        waiting=decision.waiting,
        skipped=decision.skipped or one.skipped,
    )
    if decision.skipped == "overlap" and one.skipped is None and one.thread is not None:
        mark_due(engine, one.thread, f"schedule {one.name} was skipped")
    if decision.fires:
        after = _started(engine, watch, after, plan)
    if after != one:
        stored.save(engine.store, after)
    return _fired(after, is_new=decision.fires)


def _started(engine: "Engine", watch: "Watch", one: Schedule, plan: Mapping[str, Any]) -> Schedule:
    """The schedule after its thread was created, which workers or `tick` run."""
    fields = {key: value for key, value in plan.items() if key != "folder"}
    try:
        options = StartOptions(**fields)
    except TypeError as error:
        raise UsageError(
            "the schedule was added by another version of uwf", hint="add it again"
        ) from error
    named = options._replace(queue=one.queue, tags={**options.tags, TAG: one.name})
    thread = ThreadId(start_thread(engine, named, watch)["thread"])
    if not one.queue:
        mark_unattended(engine.store, read_head(engine.store, thread), is_unattended=True)
    return one._replace(thread=thread, fired_at_ms=engine.now_ms(), skipped=None, error=None)


@contextmanager
def _engine_in(engine: "Engine", folder: str) -> "Iterator[Engine]":
    """An engine on the same store in the folder of a schedule, whose project's settings it has."""
    env = {name: value for name, value in engine.env.items() if name != ATTEMPT_VARIABLE}
    flags = {"store": engine.settings.store}
    with closing(
        open_engine(env=env, cwd=folder, flags=flags, on_fault=engine.on_fault, via="schedule")
    ) as other:
        yield other


def _following(one: Schedule, now_ms: int) -> int:
    try:
        return next_time(one.cron, one.time_zone, now_ms)
    except UwfError:
        return now_ms + _AGAIN_MS


def _words(engine: "Engine", error: UwfError) -> str:
    where = f" ({error.where})" if error.where else ""
    hint = f"; {error.hint}" if error.hint else ""
    return engine.redactor.text(f"{error.message}{where}{hint}")[:_LONGEST_ERROR]


def _is_open(engine: "Engine", one: Schedule) -> bool:
    """Whether the thread of the last start has not ended."""
    if one.thread is None:
        return False
    try:
        return read_head(engine.store, ThreadId(one.thread)).state.status not in FINISHED
    except UnknownIdError:  # it was deleted
        return False
