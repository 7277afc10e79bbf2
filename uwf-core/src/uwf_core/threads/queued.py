"""Threads that workers run: hand them over, claim one, run it until it rests."""

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.dispatch import Claim, Dispatch, DispatchBackend, WaitingRow
from uwf_core.engine.context import GO_ON, RunOptions
from uwf_core.engine.dispatching import dispatch_backend, own_labels, row_now, row_of
from uwf_core.engine.find import find_thread
from uwf_core.engine.locking import locked_head, nothing_to_run
from uwf_core.engine.results import Outcome, exec_document
from uwf_core.engine.run import exec_thread
from uwf_core.engine.watch import Watch
from uwf_core.errors import AgentStuck, BusyError, UnknownIdError, UsageError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.head import Head, queue_head, read_head
from uwf_core.thread.lifecycle import Input, check_head
from uwf_core.threads.resume import Said, resume_thread
from uwf_core.threads.start import StartOptions, start_thread
from uwf_core.views.unserved import live_labels, unserved

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel
    from uwf_core.threads.schedules.firing import Fired
    from uwf_core.views.unserved import Unserved

_ALL_STEPS = 1_000_000
_SETTLE_TRIES = 5
_STOP_SECONDS, _LOOK_SECONDS = 40.0, 0.2
"""A worker that is cut off ends its run when its lease has almost expired."""
_BUSY_SECONDS, _ERROR_SECONDS = 1.0, 60.0


class JobEnd(NamedTuple):
    """How the run of a claimed thread ended.

    Attributes:
        steps: how many it took. error: why it could take no further one.
        is_stuck: an agent did not end, so the process should.
        wanted: whether others may run it now.
        has_ended: whether its last step was recorded, and with it its row deleted.
    """

    steps: int
    error: UwfError | None = None
    is_stuck: bool = False
    wanted: bool = False
    has_ended: bool = False


class QueuedThreads:
    """The threads of a store that workers run.

    Args:
        engine: the engine. watch: gets the events of runs.
    """

    def __init__(self, engine: "Engine", watch: Watch) -> None:
        self._engine, self._watch = engine, watch

    @property
    def backend(self) -> DispatchBackend:
        """The rows of the store.

        Raises:
            UsageError: it keeps none.
        """
        return dispatch_backend(self._engine)

    @property
    def store_url(self) -> str:
        """The URL of the store, with its password: for a queue in the same database."""
        return self._engine.settings.store

    def own_labels(self) -> list[str]:
        """The labels that the configuration of this machine gives a worker."""
        return list(dict.fromkeys(own_labels(self._engine)))

    @property
    def limits(self) -> Mapping[str, int]:
        """How many threads with a label may run at a time."""
        return self._engine.settings.worker.limits

    def fire_due(self) -> "Iterator[Fired]":
        """Expire the questions and fire the schedules with `--queue` that are due.

        Raises:
            StoreError: the store cannot be reached. ClockJumped: see `tick`.
        """
        from uwf_core.threads.clock import check_clock
        from uwf_core.threads.schedules.firing import fire_schedules
        from uwf_core.threads.tick import expire_questions

        check_clock(self._engine)
        expire_questions(self._engine)
        return fire_schedules(self._engine, self._watch, only_queued=True)

    def waiting(self, limit: int) -> "list[tuple[WaitingRow, Unserved | None]]":
        """The wanted rows that nobody runs now, by priority; with what is missing for those that
        no live worker can run.
        """
        live = live_labels(self.backend.workers())
        return [
            (row, None if row.can_run else unserved(row.thread, row.needs, live))
            for row in self.backend.waiting(limit)
        ]

    def on_dispatch(self, call: Callable[[Sequence[Dispatch]], None]) -> None:
        """Have `call` get the dispatch rows of each commit of this client."""
        self._engine.on_dispatch = call

    def is_wanted(self, thread: str) -> bool:
        """Whether there is something to run in a thread."""
        head = read_head(self._engine.store, ThreadId(thread))
        return row_of(self._engine, head).is_wanted

    def run(
        self,
        claim: Claim,
        labels: Collection[str],
        cancel: "Cancel",
        may_go_on: Callable[[], bool],
    ) -> JobEnd:
        """Run a claimed thread until it rests, needs other labels, or `may_go_on` says no; asked
        before each step.
        """
        engine, has = self._engine, frozenset(labels)
        asked = _said(claim, engine)
        engine.worker_labels, engine.claimed = has, claim.thread

        def goes_on(head: Head) -> bool:
            nonlocal asked
            row, was_asked = row_now(engine, head), asked is not None
            asked = None
            is_due = was_asked or (row.is_wanted and row.not_before_ms <= engine.now_ms())
            return is_due and has.issuperset(row.needs) and may_go_on()

        options = RunOptions(count=_ALL_STEPS, worker=goes_on)
        try:
            if asked is not None and asked["kind"] == "resume":
                outcome = self._say(claim, asked, has, options, cancel)
            else:
                thread = ThreadId(claim.thread)
                outcome = exec_thread(engine, thread, options, self._watch, cancel)
            known = engine.known_row
        except AgentStuck as error:
            return JobEnd(0, error, True)
        except UwfError as error:
            return JobEnd(0, error)
        finally:
            engine.claimed = engine.known_row = None
        has_ended = outcome.error is None and known is not None and known[1].is_ended
        is_stuck = isinstance(outcome.error, AgentStuck)
        return JobEnd(len(outcome.document["steps"]), outcome.error, is_stuck, has_ended=has_ended)

    def _say(
        self,
        claim: Claim,
        said: Mapping[str, Any],
        has: frozenset[str],
        options: RunOptions,
        cancel: "Cancel",
    ) -> Outcome:
        engine = self._engine
        head = read_head(engine.store, ThreadId(claim.thread))
        if not has.issuperset(row_of(engine, head).needs):
            return Outcome(exec_document(head, []), 0)
        answer = None if said["answer"] is None else json.dumps(said["answer"])
        engine.speaker = said["by"]
        try:
            given = Input(said["text"], answer, without_answer=said["withoutAnswer"])
            return resume_thread(engine, claim.thread, given, options, self._watch, cancel)
        finally:
            engine.speaker = None

    def settle(self, claim: Claim, end: JobEnd, *, was_stopped: bool = False) -> JobEnd:
        """End a claim: write what the thread needs now, unless others have written it meanwhile.

        Raises:
            StoreError: the store cannot be reached; the claim expires by itself.
        """
        if end.has_ended:
            return end
        for _ in range(_SETTLE_TRIES):
            there = self.backend.row(claim.thread)
            if there is None:  # it has ended
                return end
            row, error = self._row(claim, end, was_stopped=was_stopped), end.error
            keeps = isinstance(error, BusyError) and there.said is not None and not was_stopped
            keeps = keeps and there.seq == row.seq  # no attempt has begun with it
            now = claim._replace(version=there.version)
            text = (
                None
                if error is None or isinstance(error, BusyError)
                else self._engine.redactor.text(error.message)
            )
            row = row._replace(is_wanted=row.is_wanted or keeps)
            if self.backend.settle(now, row, text, keeps=keeps):
                is_due = row.is_wanted and row.not_before_ms <= self._engine.now_ms()
                return end._replace(wanted=is_due)
        self.backend.release(claim)
        return end

    def _row(self, claim: Claim, end: JobEnd, *, was_stopped: bool) -> Dispatch:
        """What the thread needs now."""
        engine = self._engine
        try:
            row = row_of(engine, read_head(engine.store, ThreadId(claim.thread)))
        except UnknownIdError:  # it was removed
            return Dispatch(claim.thread, claim.seq, False, is_ended=True)
        if was_stopped:
            return row._replace(is_wanted=False)
        if end.error is None or end.is_stuck:  # that is a failed attempt, with a pause of its own
            return row
        pause = _BUSY_SECONDS if isinstance(end.error, BusyError) else _ERROR_SECONDS
        later = engine.now_ms() + int(pause * 1000)
        return row._replace(not_before_ms=max(row.not_before_ms, later))


def stop_queued(engine: "Engine", thread: ThreadId) -> bool:
    """Ask the worker that runs a thread to stop it, and wait; workers leave it alone afterwards.
    False if no worker would run it.

    Raises:
        BusyError: it does not stop in time.
    """
    backend = engine.backend
    if not isinstance(backend, DispatchBackend):
        return False
    before, done = backend.row(thread), backend.request(thread, "stop")
    if done != "asked" or before is None:
        return done is not None
    patience = engine.settings.limits.grace_seconds * 3 + _STOP_SECONDS
    until = time.monotonic() + patience
    while (now := backend.row(thread)) is not None and now.token == before.token:
        if time.monotonic() >= until:
            raise BusyError(
                f"the worker of thread {thread} did not stop it within {patience:g} s",
                hint="next: uwf worker status",
            )
        time.sleep(_LOOK_SECONDS)
    return True


def queue_thread(engine: "Engine", thread: str, options: RunOptions, watch: Watch) -> Outcome:
    """Hand a thread to workers, which run it from now on.

    Raises:
        UsageError: the store keeps no dispatch rows, or an option is for a run here.
        WrongStateError: there is nothing to run.
    """
    _check_queue(engine, options)
    with locked_head(engine, find_thread(engine, thread), watch.notice) as found:
        check_head(found, options.head)
        waits = nothing_to_run(engine, found)
        if waits is not None:
            watch.notice(f"thread {found.thread} is {found.state.status}; there is nothing to run")
            return waits
        queued = _queued(engine, found, {"kind": "exec", "text": None, "answer": None})
    return _handed_over(queued, watch)


def start_queued(
    engine: "Engine", start: StartOptions, options: RunOptions, watch: Watch
) -> Outcome:
    """Create a thread that workers run; raises as `start_thread`."""
    _check_queue(engine, options)
    started = start_thread(engine, start, watch)
    return _handed_over(read_head(engine.store, ThreadId(started["thread"])), watch)


def _check_queue(engine: "Engine", options: RunOptions) -> None:
    given = {
        "--background": options.background,
        "-c": options.count,
        "--agent": options.agent,
        "--cwd": options.cwd,
        "--wait-limits": options.wait_limits,
    }
    for option, value in given.items():
        if value:
            raise UsageError(
                f"--queue and {option} cannot be combined",
                hint="workers run the thread by their own configuration, until it rests",
            )
    dispatch_backend(engine)


def _handed_over(head: Head, watch: Watch) -> Outcome:
    watch.notice(f"workers run thread {head.thread}")
    return Outcome(exec_document(head, []), 0)


def queue_said(
    engine: "Engine", word: str, said: Input, options: RunOptions, watch: Watch, cancel: "Cancel"
) -> Outcome:
    """Hand a thread to workers with what a person says; raises as `resume_thread`."""
    _check_queue(engine, options)
    told = Said(engine, find_thread(engine, word), said, options, watch, cancel)
    with told.checked() as waiting:
        for found, intent in waiting:
            kind = "exec" if intent is GO_ON else intent.kind
            content = {"kind": kind, "text": intent.text, "answer": intent.answer}
            queued = _queued(engine, found, {**content, "withoutAnswer": said.without_answer})
    shown = queued if len(waiting) == 1 else read_head(engine.store, told.root)
    return _handed_over(shown, watch)


def _queued(engine: "Engine", head: Head, said: Mapping[str, Any]) -> Head:
    """The head of a thread that was handed over with what a person wants."""
    content = {**said, "by": engine.person()}
    with engine.store.transaction():
        queued = queue_head(engine.store, head)
        row = row_of(engine, queued)._replace(is_wanted=True, not_before_ms=0)
        engine.store.forget_queued()  # this row is another one
        dispatch_backend(engine).say(row, json.dumps(content, ensure_ascii=False))
    return queued


def _said(claim: Claim, engine: "Engine") -> Mapping[str, Any] | None:
    """What a person said to the thread as it is; None if a step has begun with it."""
    if claim.said is None:
        return None
    state = read_head(engine.store, ThreadId(claim.thread)).state
    if state.seq != claim.seq or state.attempt is not None:
        return None
    said: dict[str, Any] = json.loads(claim.said)
    return said
