"""`uwf tick`: one pass over schedules and the threads that continue by themselves, for cron and the
like.

It acts on unattended threads alone (`thread.head.UNATTENDED`); a schedule makes such ones. Two
passes at once are harmless: the lock of a thread decides which of their runs has it.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, TypedDict

from uwf_core.engine.locking import locked_head
from uwf_core.engine.retry import after_kill
from uwf_core.errors import UwfError
from uwf_core.thread.calls import shown_state, waiting_below
from uwf_core.thread.head import UNATTENDED, Head, head_of
from uwf_core.thread.lifecycle import continues_alone, effective
from uwf_core.thread.names import HEADS
from uwf_core.threads.background import run_unattended
from uwf_core.threads.clock import check_clock
from uwf_core.threads.control import is_run
from uwf_core.threads.schedules.stored import SCHEDULES

if TYPE_CHECKING:
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
    later = _expire_questions(engine) + _fire_schedules(engine, watch, found)
    times, now_ms = _times(engine, found), engine.now_ms()
    later += [at_ms for at_ms, _ in times if at_ms > now_ms]
    found["nextAtMs"] = min(later, default=None)
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


def _times(engine: "Engine", found: TickDocument) -> list[tuple[int, Head]]:
    """The unattended threads that nobody runs, each with the time of its next step, the first of
    them first; `found` gets the others.
    """
    times = list[tuple[int, Head]]()
    for variable in engine.store.variables(HEADS, tags={UNATTENDED: ["1"]}):
        try:
            head = head_of(variable)
            if is_run(engine, head.thread):
                found["running"].append(head.thread)
            elif (at_ms := _due_ms(engine, head)) is not None:
                times.append((at_ms, head))
        except UwfError as error:  # one that is damaged holds up no other
            found["problems"].append(_problem(engine, variable.name.removeprefix(HEADS), error))
    return sorted(times, key=lambda each: each[0])


def _expire_questions(engine: "Engine") -> list[int]:
    """Expire the questions of all threads whose time has passed; the deadlines of the others."""
    later = []
    for variable in engine.store.variables(HEADS, tags={"status": ["suspended"]}):
        with suppress(UwfError):  # damaged: `cas verify` reports it; busy: the next pass
            head = head_of(variable)
            asked = head.state.suspension
            if asked is None or asked.expires is None:
                continue
            if asked.expires["deadline"] > engine.now_ms():
                later.append(asked.expires["deadline"])
            else:
                with locked_head(engine, head.thread, lambda _: None):
                    pass  # the question expires as the lock is acquired
    return later


def _start(engine: "Engine", head: Head, found: TickDocument) -> None:
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
        return None
    if state.status == "idle":
        return head.variable.updated_ms if state.wait is None else state.wait.until_ms
    times = map(_after_kill_ms, waiting_below(engine.store, head))
    return min((each for each in times if each is not None), default=None)


def _after_kill_ms(waiting: "Waiting") -> int | None:
    """When a thread whose run has died is run again."""
    pause = after_kill(waiting.head.state._replace(suspension=waiting.suspension))
    return None if pause is None else waiting.head.variable.updated_ms + int(pause * 1000)
