"""The default executor: worker processes on this machine. Each has its own reaper, so that it ends
with everything it started when the run ends, even by kill -9.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Final

from uwf_core.api import Cancel
from uwf_core.errors import UwfError
from uwf_core.fields.records import write_record
from uwf_eval.records import Failure, Trial
from uwf_eval.run import messages
from uwf_eval.run.executor import Listener, RunSettings
from uwf_eval.run.worker_process import WorkerMessage, WorkerProcess
from uwf_eval.trial import verdict
from uwf_eval.trial.folders import TrialFolders, TrialResult

_TICK_SECONDS = 0.2
_STOP_SECONDS = 30.0
"""How long a worker may take to end its trial after a cancel."""


_MOST_REMOVALS: Final = 4
"""How many folders are removed at once. A trial with many files delays later ones, so that the
disk does not fill up.
"""


class ProcessPool:
    """Up to `jobs` workers, started on demand.

    Args:
        jobs: the number of parallel trials. notice: gets lines for the user.
        first: a worker that is already running.
    """

    def __init__(
        self, jobs: int, notice: Callable[[str], None], first: WorkerProcess | None = None
    ) -> None:
        self._jobs = jobs
        self._notice = notice
        self._first = first

    def execute(
        self, settings: RunSettings, jobs: Iterator[Trial], listener: Listener, cancel: Cancel
    ) -> None:
        """As `Executor.execute`."""
        removal = None if settings.keep else _Removal(self._notice)
        with ExitStack() as leaving:
            workers = _Workers(self._jobs, settings, leaving)
            if self._first is not None:
                workers.take(self._first)
                self._first = None
            _Scheduler(workers, jobs, listener, self._notice, removal, cancel).work()
        if removal is not None:
            removal.wait()


class _Removal:
    """Removes the folders of trials in the background. `notice` is called from any thread."""

    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice
        self._under_way: deque[threading.Thread] = deque()

    def begin(self, space: TrialFolders, number: int) -> None:
        """Remove the folders of this trial in the background."""
        while len(self._under_way) >= _MOST_REMOVALS:
            self._under_way.popleft().join()
        thread = threading.Thread(target=self._remove, args=(space, number), daemon=True)
        with suppress(RuntimeError):  # no thread can be started: the end of the run removes it
            thread.start()
            self._under_way.append(thread)

    def wait(self) -> None:
        """Wait until all folders are removed."""
        while self._under_way:
            self._under_way.popleft().join()

    def _remove(self, space: TrialFolders, number: int) -> None:
        try:
            space.remove()
        except OSError as error:
            self._notice(f"cannot remove the folder of trial {number}: {error}")


class _Workers:
    """The running workers."""

    def __init__(self, size: int, settings: RunSettings, leaving: ExitStack) -> None:
        self.size = size
        self.inbox: SimpleQueue[WorkerMessage] = SimpleQueue()
        self.all: list[WorkerProcess] = []
        self._settings = settings
        self._introduction = messages.encode_settings(settings)
        self._leaving = leaving

    def take(self, worker: WorkerProcess) -> None:
        """Add a worker."""
        self._leaving.callback(worker.child.stop)
        worker.deliver_to(self.inbox)
        worker.send(settings=self._introduction)
        self.all.append(worker)

    def free(self) -> WorkerProcess | None:
        """A worker for the next trial, a new one if there is room; None if all are busy.

        A single worker may get its next trial early, so that it never waits. With several, that
        trial could wait behind a long one while another worker is idle.
        """
        most = 2 if self.size == 1 and self._settings.ahead else 1
        for worker in self.all:
            if len(worker.numbers) < most:
                return worker
        if len(self.all) >= self.size:
            return None
        self.take(WorkerProcess(str(self._settings.cwd), self._settings.env))
        return self.all[-1]

    def dismiss(self) -> None:
        """Let every worker end after its trials."""
        for worker in self.all:
            worker.child.close_stdin()

    @property
    def busy(self) -> list[WorkerProcess]:
        """The workers that have a trial."""
        return [each for each in self.all if each.numbers]


class _Scheduler:
    """Assigns trials to workers and receives their results."""

    def __init__(
        self,
        workers: _Workers,
        jobs: Iterator[Trial],
        listener: Listener,
        notice: Callable[[str], None],
        removal: _Removal | None,
        cancel: Cancel,
    ) -> None:
        self._workers = workers
        self._jobs = jobs
        self._listener = listener
        self._notice = notice
        self._removal = removal
        self._cancel = cancel
        self._trials: dict[int, Trial] = {}
        self._returned: list[Trial] = []
        self._cancelled_at: float | None = None
        self._is_empty = False

    def work(self) -> None:
        """Run until no trial remains.

        Raises:
            UwfError: a worker has failed.
        """
        while True:
            self._hand_out()
            busy = self._workers.busy
            if not busy:
                return
            self._listener.tick([each.numbers[0] for each in busy])
            self._stop_if_cancelled(busy)
            try:
                message = self._workers.inbox.get(timeout=_TICK_SECONDS)
            except Empty:
                continue
            self._handle(message)

    def _hand_out(self) -> None:
        while not self._cancel.is_set() and (self._returned or not self._is_empty):
            worker = self._workers.free()
            if worker is None:
                return
            trial = self._returned.pop() if self._returned else next(self._jobs, None)
            if trial is None:
                self._is_empty = True
                return
            self._trials[trial.number] = trial
            worker.numbers.append(trial.number)
            worker.send(trial=write_record(trial))

    def _stop_if_cancelled(self, busy: Sequence[WorkerProcess]) -> None:
        if not self._cancel.is_set():
            return
        if self._cancelled_at is None:
            self._cancelled_at = monotonic()
            for worker in busy:
                worker.send(cancel=self._cancel.reason or "interrupted")
        elif monotonic() - self._cancelled_at > _STOP_SECONDS:
            for worker in busy:
                worker.child.stop()

    def _handle(self, received: WorkerMessage) -> None:
        worker, message = received
        if message is None:
            self._on_exit(worker)
        elif "ready" in message:
            worker.is_ready = True
        elif "end" in message:
            worker.numbers.popleft()
            self._end(messages.decode_end(message["end"]))
        elif "notice" in message:
            self._notice(message["notice"])
        elif "error" in message:
            raise messages.decode_error(message["error"])

    def _on_exit(self, worker: WorkerProcess) -> None:
        """Handle the end of a worker and of its trial."""
        if worker not in self._workers.all:
            return
        self._workers.all.remove(worker)
        words = worker.exit_reason()
        if not worker.is_ready:
            raise UwfError(words, hint="run `uwf doctor`")
        while len(worker.numbers) > 1:  # not started yet
            self._returned.append(self._trials.pop(worker.numbers.pop()))
        if worker.numbers:
            trial = self._trials[worker.numbers[0]]
            cancelled = self._cancel.is_set()  # the run itself ended it
            self._end(TrialResult(_interrupted(trial) if cancelled else _lost(trial, words), None))

    def _end(self, end: TrialResult) -> None:
        """Store a finished trial while the next one runs, or while the workers end."""
        del self._trials[end.trial.number]
        self._listener.ended(end.trial)
        self._hand_out()
        if not self._workers.busy:
            self._workers.dismiss()
        self._listener.store(end.trial)
        if self._removal is not None and end.space is not None:
            self._removal.begin(end.space, end.trial.number)


def _interrupted(trial: Trial) -> Trial:
    """A trial whose process ended with the run."""
    return replace(trial, attempt=trial.attempt + 1, failure=verdict.INTERRUPTED.failure)


def _lost(trial: Trial, words: str) -> Trial:
    """A trial whose process died, which programs of the agent can cause."""
    failure = Failure(kind="worker_died", message=words)
    return replace(
        trial, attempt=trial.attempt + 1, state="failed", score=0.0, passed=False, failure=failure
    )
