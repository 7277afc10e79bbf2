"""The built-in executor: worker processes on this machine, each under a reaper of its own, so
that it ends with all it started when the run does, even by kill -9.
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
from uwf_core.api.fields import write_record
from uwf_core.errors import UwfError
from uwf_eval.records import Failure, Trial
from uwf_eval.run import wire
from uwf_eval.run.executor import Listener, Setting
from uwf_eval.run.process import Said, Worker
from uwf_eval.trial import verdict
from uwf_eval.trial.space import Space

_TICK_SECONDS = 0.2
_PATIENCE_SECONDS = 30.0
"""How long a worker may take to end its trial once it is told to."""


_MOST_REMOVALS: Final = 4
"""How many are removed at once: a trial that leaves much holds up those after it, not the disk."""


class ProcessPool:
    """Up to `jobs` workers, started when there is work for them.

    Args:
        jobs: how many trials run at once. notice: gets lines for people.
        first: a worker that was started already.
    """

    def __init__(
        self, jobs: int, notice: Callable[[str], None], first: Worker | None = None
    ) -> None:
        self._jobs = jobs
        self._notice = notice
        self._first = first

    def execute(
        self, setting: Setting, jobs: Iterator[Trial], listener: Listener, cancel: Cancel
    ) -> None:
        """As `Executor.execute`."""
        removal = None if setting.keep else _Removal(self._notice)
        with ExitStack() as leaving:
            workers = _Workers(self._jobs, setting, leaving)
            if self._first is not None:
                workers.take(self._first)
                self._first = None
            _Scheduler(workers, jobs, listener, self._notice, removal, cancel).work()
        if removal is not None:
            removal.wait()


class _Removal:
    """Removes what trials leave. `notice` gets lines for people, from any thread."""

    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice
        self._under_way: deque[threading.Thread] = deque()

    def begin(self, space: Space, number: int) -> None:
        """Remove the folders of the trial of this number, soon."""
        while len(self._under_way) >= _MOST_REMOVALS:
            self._under_way.popleft().join()
        thread = threading.Thread(target=self._remove, args=(space, number), daemon=True)
        with suppress(RuntimeError):  # no further thread can be started: the run's end removes it
            thread.start()
            self._under_way.append(thread)

    def wait(self) -> None:
        """Until nothing is left to remove."""
        while self._under_way:
            self._under_way.popleft().join()

    def _remove(self, space: Space, number: int) -> None:
        try:
            space.remove()
        except OSError as error:
            self._notice(f"cannot remove the folder of trial {number}: {error}")


class _Workers:
    """The workers there are."""

    def __init__(self, size: int, setting: Setting, leaving: ExitStack) -> None:
        self.size = size
        self.heard: SimpleQueue[Said] = SimpleQueue()
        self.all: list[Worker] = []
        self._setting = setting
        self._introduction = wire.setting_out(setting)
        self._leaving = leaving

    def take(self, worker: Worker) -> None:
        """Make a worker one of these."""
        self._leaving.callback(worker.child.stop)
        worker.tell(self.heard)
        worker.say(setting=self._introduction)
        self.all.append(worker)

    def free(self) -> Worker | None:
        """A worker for a trial, a new one where there is room; None: all have enough.

        One that is alone may have its next trial already, so that it need not wait for it. With
        several, that trial might wait for a long one while another worker has nothing to do.
        """
        most = 2 if self.size == 1 and self._setting.ahead else 1
        for worker in self.all:
            if len(worker.numbers) < most:
                return worker
        if len(self.all) >= self.size:
            return None
        self.take(Worker(str(self._setting.cwd), self._setting.env))
        return self.all[-1]

    def dismiss(self) -> None:
        """Let every worker end by itself: there is nothing more to do."""
        for worker in self.all:
            worker.child.close_stdin()

    @property
    def busy(self) -> list[Worker]:
        """Those that have a trial."""
        return [each for each in self.all if each.numbers]


class _Scheduler:
    """Hands out trials to workers, and takes their results."""

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
        self._told_at: float | None = None
        self._is_empty = False

    def work(self) -> None:
        """Until nothing is left to do.

        Raises:
            UwfError: a worker cannot go on.
        """
        while True:
            self._hand_out()
            busy = self._workers.busy
            if not busy:
                return
            self._listener.tick([each.numbers[0] for each in busy])
            self._stop_when_told(busy)
            try:
                said = self._workers.heard.get(timeout=_TICK_SECONDS)
            except Empty:
                continue
            self._hear(said)

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
            worker.say(trial=write_record(trial))

    def _stop_when_told(self, busy: Sequence[Worker]) -> None:
        if not self._cancel.is_set():
            return
        if self._told_at is None:
            self._told_at = monotonic()
            for worker in busy:
                worker.say(cancel=self._cancel.reason or "interrupted")
        elif monotonic() - self._told_at > _PATIENCE_SECONDS:
            for worker in busy:
                worker.child.stop()

    def _hear(self, said: Said) -> None:
        worker, message = said
        if message is None:
            self._on_exit(worker)
        elif "ready" in message:
            worker.is_ready = True
        elif "end" in message:
            worker.numbers.popleft()
            self._end(wire.end_in(message["end"]))
        elif "notice" in message:
            self._notice(message["notice"])
        elif "fault" in message:
            raise wire.fault_in(message["fault"])

    def _on_exit(self, worker: Worker) -> None:
        """A worker has ended; its trial, if it had one, with it."""
        if worker not in self._workers.all:
            return
        self._workers.all.remove(worker)
        words = worker.last_words()
        if not worker.is_ready:
            raise UwfError(words, hint="run `uwf doctor`")
        while len(worker.numbers) > 1:  # which it has not begun
            self._returned.append(self._trials.pop(worker.numbers.pop()))
        if worker.numbers:
            trial = self._trials[worker.numbers[0]]
            told = self._cancel.is_set()  # that it ended is our own doing
            self._end(wire.End(_interrupted(trial) if told else _lost(trial, words), None))

    def _end(self, end: wire.End) -> None:
        """The next trial is run while this one is stored; the workers end while the last one is."""
        del self._trials[end.trial.number]
        self._listener.ended(end.trial)
        self._hand_out()
        if not self._workers.busy:
            self._workers.dismiss()
        self._listener.keep(end.trial)
        if self._removal is not None and end.space is not None:
            self._removal.begin(end.space, end.trial.number)


def _interrupted(trial: Trial) -> Trial:
    """A trial whose process was ended with the run."""
    return replace(trial, attempt=trial.attempt + 1, failure=verdict.INTERRUPTED.failure)


def _lost(trial: Trial, words: str) -> Trial:
    """A trial whose process ended before it did, as the agent's programs can bring about."""
    failure = Failure(kind="worker_died", message=words)
    return replace(
        trial, attempt=trial.attempt + 1, state="failed", score=0.0, passed=False, failure=failure
    )
