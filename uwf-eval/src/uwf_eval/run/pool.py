"""The executor of the house: worker processes on this machine, each under a reaper of its own, so
that it ends with all it started when the run does, even by kill -9.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from uwf_core.api import Cancel, ChildProgram, ProcessLimits, Program, start_program
from uwf_core.api.fields import write_record
from uwf_core.errors import UwfError
from uwf_eval.records import Trial
from uwf_eval.run import wire
from uwf_eval.run.executor import End, Lost, Setting

_WORKER = ("-P", "-m", "uwf_eval.run.worker")
_LIMITS = ProcessLimits(total_seconds=None, output_bytes=1 << 31)
_TICK_SECONDS = 0.2
_PATIENCE_SECONDS = 30.0
"""How long a worker may take to end its trial once it is told to."""


class _Said(NamedTuple):
    """What a worker said; None: it has ended."""

    worker: "_Worker"
    message: Mapping[str, Any] | None


class _Worker:
    """A worker process, and the trial that it runs."""

    def __init__(self, cwd: str, env: Mapping[str, str], heard: "SimpleQueue[_Said]") -> None:
        self.trial: Trial | None = None
        self.is_ready = False
        program = Program(argv=(sys.executable, *_WORKER), cwd=cwd, env=env, stdin=None)
        self.child: ChildProgram = start_program(program, _LIMITS)
        self._heard = heard
        threading.Thread(target=self._listen, daemon=True).start()

    def introduce(self, setting: Setting) -> None:
        """Tell it what all its trials share."""
        self.say(setting=wire.setting_out(setting))

    def _listen(self) -> None:
        for text in self.child.lines():
            with suppress(ValueError):
                self._heard.put(_Said(self, json.loads(text)))
        self._heard.put(_Said(self, None))

    def run(self, trial: Trial) -> None:
        """Give it a trial."""
        self.trial = trial
        self.say(trial=write_record(trial))

    def say(self, **message: Any) -> None:
        with suppress(ValueError):  # it is gone; that is heard as its end
            self.child.write(wire.line(**message))

    def last_words(self) -> str:
        """Why it ended, as far as it can be told."""
        result = self.child.wait()
        said = result.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {said[-1][:500]}" if said else ""
        return f"the process of the trial ended with code {result.exit_code}{last}"


class ProcessPool:
    """Up to `jobs` workers, started when there is work for them.

    Args:
        jobs: how many trials run at once. notice: gets lines for people.
    """

    def __init__(self, jobs: int, notice: Callable[[str], None]) -> None:
        self._jobs = jobs
        self._notice = notice
        self._heard: SimpleQueue[_Said] = SimpleQueue()
        self._early: _Worker | None = None

    def warm_up(self, cwd: str, env: Mapping[str, str]) -> None:
        """Start the first worker now, while its caller still prepares the run."""
        self._early = _Worker(cwd, env, self._heard)

    def close(self) -> None:
        """End a worker that was never used."""
        if self._early is not None:
            self._early.child.stop()
            self._early = None

    def execute(
        self,
        setting: Setting,
        jobs: Iterator[Trial],
        ended: Callable[[End], None],
        tick: Callable[[Sequence[int]], None],
        cancel: Cancel,
    ) -> None:
        """As `Executor.execute`."""
        with ExitStack() as leaving:
            crew = _Crew(self._jobs, setting, self._heard, leaving)
            if self._early is not None:
                crew.take(self._early)
                self._early = None
            _Shift(crew, jobs, ended, self._notice, cancel).work(tick)


class _Crew:
    """The workers there are."""

    def __init__(
        self, size: int, setting: Setting, heard: "SimpleQueue[_Said]", leaving: ExitStack
    ) -> None:
        self.size = size
        self.heard = heard
        self.workers: list[_Worker] = []
        self._setting = setting
        self._leaving = leaving

    def take(self, worker: _Worker) -> None:
        """Make a worker one of these."""
        self._leaving.callback(worker.child.stop)
        worker.introduce(self._setting)
        self.workers.append(worker)

    def free(self) -> _Worker | None:
        """A worker without a trial, a new one where there is room; None: all have one."""
        for worker in self.workers:
            if worker.trial is None:
                return worker
        if len(self.workers) >= self.size:
            return None
        self.take(_Worker(str(self._setting.cwd), self._setting.env, self.heard))
        return self.workers[-1]

    @property
    def busy(self) -> list[_Worker]:
        """Those that have a trial."""
        return [each for each in self.workers if each.trial is not None]


class _Shift:
    """Trials being run by a crew."""

    def __init__(
        self,
        crew: _Crew,
        jobs: Iterator[Trial],
        ended: Callable[[End], None],
        notice: Callable[[str], None],
        cancel: Cancel,
    ) -> None:
        self._crew = crew
        self._jobs = jobs
        self._ended = ended
        self._notice = notice
        self._cancel = cancel
        self._told_at: float | None = None
        self._is_empty = False

    def work(self, tick: Callable[[Sequence[int]], None]) -> None:
        """Until nothing is left to do.

        Raises:
            UwfError: a worker cannot go on.
        """
        while True:
            self._hand_out()
            busy = self._crew.busy
            if not busy:
                return
            tick([each.trial.number for each in busy if each.trial is not None])
            try:
                said = self._crew.heard.get(timeout=_TICK_SECONDS)
            except Empty:
                self._stop_when_told(busy)
                continue
            self._hear(said)

    def _hand_out(self) -> None:
        while not (self._is_empty or self._cancel.is_set()):
            worker = self._crew.free()
            if worker is None:
                return
            trial = next(self._jobs, None)
            if trial is None:
                self._is_empty = True
                return
            worker.run(trial)

    def _stop_when_told(self, busy: Sequence[_Worker]) -> None:
        if not self._cancel.is_set():
            return
        if self._told_at is None:
            self._told_at = monotonic()
            for worker in busy:
                worker.say(cancel=self._cancel.reason or "interrupted")
        elif monotonic() - self._told_at > _PATIENCE_SECONDS:
            for worker in busy:
                worker.child.stop()

    def _hear(self, said: _Said) -> None:
        worker, message = said
        if message is None:
            self._bury(worker)
        elif "ready" in message:
            worker.is_ready = True
        elif "note" in message:
            worker.trial = None
            self._ended(wire.note_in(message["note"]))
        elif "notice" in message:
            self._notice(message["notice"])
        elif "fault" in message:
            raise wire.fault_in(message["fault"])

    def _bury(self, worker: _Worker) -> None:
        """A worker has ended; its trial, if it had one, with it."""
        if worker not in self._crew.workers:
            return
        self._crew.workers.remove(worker)
        trial, worker.trial = worker.trial, None
        words = worker.last_words()
        if not worker.is_ready:
            raise UwfError(words, hint="`uwf doctor` looks for what is wrong")
        if trial is not None:
            self._ended(Lost(trial, words))
