"""`uwf tick`: one pass over schedules and the threads that continue by themselves, for cron and the
like.

It acts on unattended threads alone (`thread.names.UNATTENDED`); a schedule makes such ones. Two
passes at once are harmless: the lock of a thread decides which of their runs has it.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypedDict

from uwf_core.engine.retry import after_kill
from uwf_core.errors import BusyError, UnknownIdError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import open_below, shown_state, waiting_below
from uwf_core.thread.due import DEADLINE, REMINDER, due_until
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.lifecycle import continues_alone, effective
from uwf_core.thread.lock import running_threads
from uwf_core.thread.names import SCHEDULES, UNATTENDED, head_name
from uwf_core.threads.clock import check_clock

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch
    from uwf_core.thread.calls import Waiting


class TickProblem(TypedDict):
    """A thread that could not be continued, or a schedule that could not start one."""

    thread: str | None
    schedule: str | None
    message: str


class TickFired(TypedDict):
    """A schedule that was due, and the thread that it has created."""

    schedule: str
    thread: str


class TickDocument(TypedDict):
    """What a pass has found and done.

    Attributes:
        fired: the schedules that were due, each with its new thread.
        started: the threads that it continues, each in a separate process. running: those that
            ran already.
        due: threads that are due, but `limits.runs` run already.
        problems: the threads that could not be continued, and the schedules that failed.
        nextAtMs: when the next one is due, in ms since 1970; null if none is.
    """

    fired: list[TickFired]
    started: list[str]
    running: list[str]
    due: list[str]
    problems: list[TickProblem]
    nextAtMs: int | None


class TickLines(TypedDict):
    """What a scheduler needs to run `uwf tick`."""

    lines: str


def tick(
    engine: "Engine", watch: "Watch", scheduler: str | None = None, accept_clock: bool = False
) -> TickDocument | TickLines:
    """Fire the schedules that are due, and continue the unattended threads that are, the one that
    is due for longest first. With a `scheduler`, return the lines for it instead.

    Raises:
        ClockJumped: the clock has, and nobody has accepted that; nothing was done.
    """
    if scheduler is not None:
        from uwf_core.threads.tick_lines import lines_for  # for the day of the set-up

        return {"lines": lines_for(engine, scheduler)}
    check_clock(engine, accept=accept_clock)
    found: TickDocument = {
        "fired": [], "started": [], "running": [], "due": [], "problems": [], "nextAtMs": None,
    }  # fmt: skip
    later = _fire_schedules(engine, watch, found)
    now_ms = engine.now_ms()
    rows, next_ms = due_until(engine.store, now_ms)
    found["running"] += _running(engine)
    times = _times(engine, found, rows) if rows else []
    later += [at_ms for at_ms, _ in times if at_ms > now_ms]
    found["nextAtMs"] = min((*later, *([] if next_ms is None else [next_ms])), default=None)
    for at_ms, head in times:
        if at_ms > now_ms:
            break
        if len(found["running"]) >= engine.settings.limits.runs:
            found["due"].append(head.thread)
        else:
            _start(engine, head, found)
    return found


def _fire_schedules(engine: "Engine", watch: "Watch", found: TickDocument) -> list[int]:
    """Fire the schedules that are due; the next times of all."""
    if not engine.store.rows(SCHEDULES, limit=1):
        return []
    from uwf_core.threads.schedules.firing import fire_schedules  # where there are some

    later = []
    for each in fire_schedules(engine, watch):
        if each.thread is not None:
            found["fired"].append({"schedule": each.name, "thread": each.thread})
        if each.error is not None:
            problem: TickProblem = {"thread": None, "schedule": each.name, "message": each.error}
            found["problems"].append(problem)
        later += [] if each.next_ms is None else [each.next_ms]
    return later


def _running(engine: "Engine") -> list[str]:
    """The unattended threads that a process runs."""
    found = []
    for thread in sorted(running_threads(engine.store)):
        variable = engine.store.rows(head_name(ThreadId(thread)), limit=1)
        found += [thread] if variable and UNATTENDED in variable[0].tags else []
    return found


def _times(
    engine: "Engine", found: TickDocument, rows: "Sequence[tuple[ThreadId, Variable]]"
) -> list[tuple[int, Head]]:
    """The unattended threads of these rows that nobody runs, each with the time of its next step,
    the first of them first; `found` gets the others. Questions expire before.
    """
    from uwf_core.threads.control import is_run  # where a thread is due

    times = list[tuple[int, Head]]()
    for thread, row in rows:
        try:
            head = _attended(engine, thread, row)
            if head is None or UNATTENDED not in head.variable.tags or thread in found["running"]:
                continue
            if is_run(engine, thread):
                found["running"].append(thread)
            elif (at_ms := _due_ms(engine, head)) is not None:
                times.append((at_ms, head))
        except UwfError as error:  # one that is damaged holds up no other
            found["problems"].append(_problem(engine, thread, error))
    return sorted(times, key=lambda each: each[0])


def expire_questions(engine: "Engine") -> None:
    """Expire the questions whose time has passed, and have persons reminded: workers do it, too."""
    for thread, row in due_until(engine.store, engine.now_ms())[0]:
        with suppress(UwfError):  # damaged: `tick` and `cas verify` report it
            _attended(engine, thread, row)


def _remind(engine: "Engine", thread: ThreadId, row: "Variable") -> None:
    """Have a person reminded of a question, unless it was answered."""
    from uwf_core.engine.notices import mark_due  # few questions have a deadline

    with suppress(UnknownIdError):
        asked = read_head(engine.store, thread).state.suspension
        if asked and asked.expires and f"{asked.expires['deadline']}" == row.tags[DEADLINE]:
            mark_due(engine, thread, row.tags[REMINDER])
    with suppress(BusyError):  # another pass was quicker
        engine.store.delete_variable(row)


def _attended(engine: "Engine", thread: ThreadId, row: "Variable") -> Head | None:
    """The head of a thread, after its question has expired if it was due; None: it is gone, or
    only a reminder was due.
    """
    if REMINDER in row.tags:
        _remind(engine, thread, row)
        return None
    try:
        head = read_head(engine.store, thread)
    except UnknownIdError:  # a damaged one was deleted
        engine.store.delete_variable(row)
        return None
    waits = head.state.suspension
    if head.state.attempt is not None or waits is None or waits.expires is None:
        return head
    from uwf_core.engine.locking import locked_head  # where a question is due: half of a pass

    with suppress(BusyError), locked_head(engine, thread, lambda _: None) as now:
        return now  # the question expires as the lock is acquired
    return None


def _start(engine: "Engine", head: Head, found: TickDocument) -> None:
    from uwf_core.threads.background import run_unattended  # where one is started

    try:
        is_ours = run_unattended(engine, head.thread)
    except UwfError as error:
        found["problems"].append(_problem(engine, head.thread, error))
    else:
        found["started"] += [head.thread] if is_ours else []
        found["running"].append(head.thread)


def _problem(engine: "Engine", thread: str, error: UwfError) -> TickProblem:
    message = engine.redactor.text(error.message)
    return {"thread": thread, "schedule": None, "message": message}


def _due_ms(engine: "Engine", head: Head) -> int | None:
    """When an unattended thread that nobody runs may continue; None if a person has to act."""
    state = shown_state(engine.store, effective(head.state, is_running=False))
    if not continues_alone(state):
        return head.variable.updated_ms if _leads_on_below(engine, head) else None
    if state.status == "idle":
        return head.variable.updated_ms if state.wait is None else state.wait.until_ms
    times = map(_after_kill_ms, waiting_below(engine.store, head))
    return min((each for each in times if each is not None), default=None)


def _leads_on_below(engine: "Engine", head: Head) -> bool:
    """Whether a called thread has failed, and the run died before the edge of that was taken."""
    below = open_below(engine.store, head.thread)
    if head.state.suspension is not None or not below:
        return False
    from uwf_core.engine.given_up import is_given_up  # few calls fail

    return any(is_given_up(engine, read_head(engine.store, each)) for each in below)


def _after_kill_ms(waiting: "Waiting") -> int | None:
    """When a thread whose run has died is run again."""
    pause = after_kill(waiting.head.state._replace(suspension=waiting.suspension))
    return None if pause is None else waiting.head.variable.updated_ms + int(pause * 1000)
