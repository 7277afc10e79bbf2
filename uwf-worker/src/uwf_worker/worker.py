"""A worker: it claims threads in the store, runs their steps, and survives every failure of
the database. A queue wakes it; without one it looks into the store at each heartbeat.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.api import Cancel, ProcessId, UwfError, hostname
from uwf_core.api.dispatch import Claim, Dispatch, WorkerRow
from uwf_worker.engines.engine import Engine, EngineError, Hint, Job, queue_of

if TYPE_CHECKING:
    from uwf_core.client import Client

JOB_SECONDS = 60.0
"""How long a job takes further steps of its thread, before other threads get their turn."""

MOST_JOBS = 1000
"""After how many jobs a worker starts anew, so that nothing that plugins leave behind adds up."""

SWEEP_THREADS = 8
_QUIET_SECONDS = 30.0
_PAUSE_SECONDS = 1.0
_REAP_EVERY = 12
_MOST_QUEUES = 1000


class WorkerOptions(NamedTuple):
    """How a worker works.

    Attributes:
        labels: what it has. lease_seconds: of its claims.
        most_jobs: after how many it starts anew. job_seconds: how long one may take new steps.
    """

    labels: Sequence[str]
    lease_seconds: float
    most_jobs: int = MOST_JOBS
    job_seconds: float = JOB_SECONDS

    @property
    def beat_seconds(self) -> float:
        """How often it renews its claim and looks for threads without a hint."""
        return min(5.0, self.lease_seconds / 6)


class Ended(NamedTuple):
    """How a worker ended: whether it wants to start anew, and what it did."""

    starts_anew: bool
    jobs: int
    steps: int


class Totals(NamedTuple):
    """What a worker has done so far: `failures` are jobs that ended with an error."""

    jobs: int = 0
    steps: int = 0
    failures: int = 0
    busy_seconds: float = 0.0
    is_busy: bool = False


class Worker:
    """A worker of one process: one thread of a store at a time.

    Args:
        client: opens the store. engine: wakes it. options: see there.
        say: gets a line for people for each job and each failure.
    """

    def __init__(
        self, client: "Client", engine: Engine, options: WorkerOptions, say: Callable[[str], None]
    ) -> None:
        self._client, self._engine, self._options, self._say = client, engine, options, say
        self._queued = client.queued
        self._backend = self._queued.backend
        own = ProcessId.own()
        self.id = f"{hostname()}-{own.pid}-{secrets.token_hex(3)}"
        self._row = WorkerRow(
            self.id, hostname(), own.pid, own.start, sorted(options.labels), "running", 0, None,
            int(time.time() * 1000), 0,
        )  # fmt: skip
        self._ends, self._closed = threading.Event(), threading.Event()
        self._cancel: Cancel | None = None
        self._is_asked_to_stop = False
        self._totals = Totals()
        self._hints: list[Hint] = []
        self._queues = dict.fromkeys(_usual_queues(options.labels))
        self._is_hungry = True
        self._lock = threading.Lock()
        self._queued.on_dispatch(self._note)

    @property
    def totals(self) -> Totals:
        """What it has done so far. Safe in any thread."""
        return self._totals._replace(is_busy=self._row.thread is not None)

    # -- control, from other threads and signals ---------------------------------------------------

    def drain(self) -> None:
        """End after the current step. Safe in a signal handler."""
        self._ends.set()

    def abort(self) -> None:
        """End at once: the current step is interrupted, and another worker repeats it."""
        self._ends.set()
        if self._cancel is not None:
            self._cancel.set("the worker was ended")

    # -- jobs --------------------------------------------------------------------------------------

    def run(self) -> Ended:
        """Work until it drains, or should start anew. Failures of the database end nothing."""
        beat = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beat.start()
        is_stuck = False
        try:
            while not (
                self._ends.is_set() or is_stuck or self._totals.jobs >= self._options.most_jobs
            ):
                try:
                    is_stuck = self._work()
                except UwfError as error:
                    self._say(f"{error.message}; trying again")
                    self._ends.wait(_PAUSE_SECONDS)
        finally:
            self._closed.set()
            beat.join(10)
            self._leave()
        return Ended(not self._ends.is_set(), self._totals.jobs, self._totals.steps)

    def _work(self) -> bool:
        """Run the next thread, if there is one; whether an agent does not end."""
        job = None
        claim = self._claimed(None) if self._is_hungry else None
        if claim is None:
            self._is_hungry = False
            job = self._hinted()
            claim = None if job is None else self._claimed(job.thread)
        try:
            return claim is not None and self._run(claim)
        finally:
            if job is not None:
                self._quietly(lambda: self._engine.finish(job))

    def _claimed(self, thread: str | None) -> Claim | None:
        labels, limits = self._options.labels, self._queued.limits
        return self._backend.claim(self.id, labels, limits, thread)

    def _hinted(self) -> Job | None:
        with self._lock:
            queues = [*self._queues]
        try:
            return self._engine.claim(queues, self._options.beat_seconds)
        except EngineError:
            self._ends.wait(_PAUSE_SECONDS)
            return None

    def _run(self, claim: Claim) -> bool:
        begun = time.monotonic()
        cancel, until = Cancel(), float("inf")  # the first step is never too late
        self._cancel, self._is_asked_to_stop = cancel, False
        self._row = self._row._replace(thread=claim.thread)

        def may_go_on() -> bool:
            nonlocal until
            self._send_hints(except_for=claim.thread)
            is_late = time.monotonic() > until
            until = min(until, time.monotonic() + self._options.job_seconds)
            return not (is_late or self._ends.is_set() or cancel.is_set())

        end = self._queued.run(claim, self._options.labels, cancel, may_go_on)
        self._row = self._row._replace(thread=None)
        self._cancel = None
        end = self._queued.settle(claim, end, was_stopped=self._is_asked_to_stop)
        self._send_hints(except_for=None if end.wanted else claim.thread)
        self._is_hungry = True
        took = f"thread {claim.thread}: {end.steps} step{'' if end.steps == 1 else 's'}"
        self._say(took if end.error is None else f"{took}; {end.error.message}")
        jobs, steps, failures, seconds, _ = self._totals
        self._totals = Totals(
            jobs + 1,
            steps + end.steps,
            failures + (end.error is not None),
            seconds + time.monotonic() - begun,
        )
        self._row = self._row._replace(jobs=jobs + 1)
        return end.is_stuck

    # -- hints -------------------------------------------------------------------------------------

    def _note(self, rows: Sequence[Dispatch]) -> None:
        """Remember which threads a commit makes wanted, for after the commit."""
        for row in rows:
            if row.is_wanted and row.not_before_ms == 0:
                self._hints.append(Hint(row.thread, queue_of(row.needs)))

    def _send_hints(self, except_for: str | None) -> None:
        """Tell the queue which threads the last commits made wanted, except the one that goes next
        here.
        """
        hints, self._hints = self._hints, []
        hints = [*{each.thread: each for each in hints if each.thread != except_for}.values()]
        if hints:
            self._quietly(lambda: self._engine.enqueue(hints))

    def _quietly(self, call: Callable[[], object]) -> None:
        """Call the queue; if it fails, the next sweep finds the thread."""
        with suppress(EngineError):
            call()

    # -- heartbeat ---------------------------------------------------------------------------------

    def _beat(self) -> None:
        """Renew the claim, obey requests, and look for threads without a hint."""
        beats = 0
        while True:
            try:
                self._obey(self._backend.beat(self._row))
                self._bury()
                self._sweep()
                if beats % _REAP_EVERY == 0:
                    self._quietly(self._engine.reap)
            except UwfError as error:
                self._say(f"{error.message}; trying again")
            self._quietly(self._engine.heartbeat)
            beats += 1
            if self._closed.wait(self._options.beat_seconds):
                return

    def _obey(self, request: str | None) -> None:
        if request == "drain":
            self.drain()
        elif request == "stop" and self._cancel is not None:
            self._is_asked_to_stop = True
            self._cancel.set("a person stopped the thread")

    def _sweep(self) -> None:
        """Defer a job for each thread that could be run, and for which no hint was given lately."""
        if self._ends.is_set():
            return
        labels, limits = self._options.labels, self._queued.limits
        found = self._backend.due(labels, limits, SWEEP_THREADS, _QUIET_SECONDS)
        if not found:
            return
        hints = [Hint(thread, queue_of(needs)) for thread, needs in found]
        with self._lock:
            for hint in hints:
                self._queues.pop(hint.queue, None)
                self._queues[hint.queue] = None
            while len(self._queues) > _MOST_QUEUES:
                del self._queues[next(iter(self._queues))]
        self._is_hungry = True
        self._quietly(lambda: self._engine.enqueue(hints))

    def _bury(self) -> None:
        """Free the claims of workers of this machine whose process is dead."""
        for each in self._backend.workers(self._row.host):
            if each.id != self.id and not ProcessId(each.pid, each.start).is_alive():
                self._backend.leave(each.id)

    def _leave(self) -> None:
        try:
            self._backend.leave(self.id)
        except UwfError as error:
            self._say(f"{error.message}; the store forgets this worker when its lease expires")


def _usual_queues(labels: Sequence[str]) -> list[str]:
    """The queues of threads that need an agent, a machine, both or nothing; those of others become
    known when such a thread is found.
    """
    agents = [(), *((each,) for each in labels if each.startswith("agent:"))]
    hosts = [(), *((each,) for each in labels if each.startswith("host:"))]
    return [queue_of((*agent, *host)) for agent in agents for host in hosts]


def restart(argv: Sequence[str]) -> None:
    """Replace this process by a new one with the same command, and with it every stuck thread."""
    os.execv(argv[0], [*argv])
