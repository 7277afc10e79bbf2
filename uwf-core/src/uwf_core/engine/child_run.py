"""Steps of a called thread: in this process, or in a separate one: `uwf thread exec CHILD` under a
reaper, which ends it if this process ends.
"""

import json
import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from uwf_core.engine.context import GO_ON
from uwf_core.engine.location import moved_folder
from uwf_core.engine.report import printed_error, relay_line, run_command
from uwf_core.engine.results import Outcome
from uwf_core.errors import AgentInterrupted, ExitCode, StoreError, UwfError
from uwf_core.ids import Ref
from uwf_core.process.program import (
    ChildProgram,
    ProcessLimits,
    Program,
    ProgramResult,
    start_program,
)

if TYPE_CHECKING:
    from uwf_core.engine.context import Intent, Run, RunOptions
    from uwf_core.process.cancel import Cancel
    from uwf_core.thread.head import Head

Steps = Callable[["Run", "RunOptions", "Intent"], Outcome]
"""Takes steps of a thread; `run.run_steps`."""

_OUTPUT_BYTES = 512 * 1024 * 1024
_PRINTED_BYTES = 32 * 1024 * 1024
"""After so many bytes, which are in memory until a process ends, it takes no other branch."""
_GRACE_SHARE = 4
"""A process that is stopped waits for its agent, whose grace period is shorter than its own."""


def run_here(run: "Run", child: "Head", count: int | None, steps: Steps) -> Outcome:
    """Take `count` steps (None: one, or one round) of a called thread in this process."""
    return steps(run._replace(head=child, cwd=None), _options(run, child, count), GO_ON)


def workers_of(run: "Run", leaving: ExitStack) -> "Workers | None":
    """What runs branches until `leaving`; None where only this process has the store."""
    env = run.engine.process_env()
    if env is None:
        return None
    workers = Workers(run, env)
    leaving.callback(workers.close)
    return workers


class Workers:
    """The processes that run branches, as many as run at a time: each takes one after another. What
    has ended badly in one, or was stopped, takes no other branch with it.
    """

    def __init__(self, run: "Run", env: Mapping[str, str]) -> None:
        self._run = run
        self._env = env
        self._idle: list[_Worker] = []

    def run(self, child: "Head", count: int | None) -> Outcome:
        """Take `count` steps (None: one, or one round) of a branch. Called from any thread.

        Raises:
            UwfError: the process ended without an outcome.
        """
        engine, options = self._run.engine, _options(self._run, child, count)
        worker = self._idle_one()
        outcome = None if worker is None else worker.next_outcome(child, options)
        if worker is not None and not worker.was_heard:  # it ended while it waited
            worker.end()
            worker = None
        if worker is None:
            worker = self._started(child, options)
            outcome = worker.outcome()
        if engine.settings.notify.command or engine.settings.notify.services:
            from uwf_core.engine.notices import send_soon  # a sender below a reaper would end

            send_soon(engine)
        if outcome is None:
            raise _why(child.thread, worker.end())
        if may_take_another(outcome, self._run.cancel) and worker.printed < _PRINTED_BYTES:
            self._idle.append(worker)
        else:
            worker.end()
        return outcome

    def close(self) -> None:
        """End those that wait."""
        for worker in self._idle:
            worker.program.close_stdin()
        for worker in self._idle:
            worker.end()

    def _idle_one(self) -> "_Worker | None":
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _started(self, child: "Head", options: "RunOptions") -> "_Worker":
        engine = self._run.engine
        grace = engine.settings.limits.grace_seconds * _GRACE_SHARE
        argv = (*run_command("exec", child.thread, options), "--report")
        program = Program(
            argv=argv, cwd=engine.cwd, env=self._env, stdin=None, first_signal=signal.SIGTERM
        )
        limits = ProcessLimits(total_seconds=None, grace_seconds=grace, output_bytes=_OUTPUT_BYTES)
        return _Worker(self._run, start_program(program, limits, cancel=self._run.cancel))


class _Worker:
    """A process that runs branches.

    Attributes:
        was_heard: whether it has reported of the newest one. printed: how many bytes in all.
    """

    def __init__(self, run: "Run", program: ChildProgram) -> None:
        self.program = program
        self.was_heard = False
        self.printed = 0
        self._run = run
        self._lines = program.lines()

    def next_outcome(self, child: "Head", options: "RunOptions") -> Outcome | None:
        """Let it run another branch; see `outcome`."""
        order = {"thread": child.thread, "count": options.count, "cwd": options.cwd}
        self.program.write(json.dumps(order).encode() + b"\n")
        return self.outcome()

    def outcome(self) -> Outcome | None:
        """Pass on what it reports, up to the outcome of the branch; None if it ended before."""
        self.was_heard = False
        watch = self._run.watch
        try:
            for line in self._lines:
                self.was_heard = True
                self.printed += len(line)
                outcome = relay_line(line, watch.relay, watch.notice)
                if outcome is not None:
                    return outcome
        except BaseException:
            self.program.stop()
            raise
        return None

    def end(self) -> ProgramResult:
        """Let it end, and wait for that."""
        self.program.close_stdin()
        while self.outcome() is not None:
            pass
        return self.program.wait()


def may_take_another(outcome: Outcome, cancel: "Cancel") -> bool:
    """Whether a process may run another branch after one that ended so."""
    is_stopped = cancel.is_set() or outcome.exit_code == ExitCode.INTERRUPTED
    return outcome.error is None and not is_stopped


def _options(run: "Run", child: "Head", count: int | None) -> "RunOptions":
    own = run.options._replace(count=count, cwd=_folder(run, child))
    return own._replace(until_done=False, announce=None, head=None)


def _folder(run: "Run", child: "Head") -> str | None:
    """The folder of a called thread if the run replaces that of the caller."""
    if run.cwd is not None:
        from uwf_core.engine.worktree import begins_in_worktree  # for `--cwd`

        definition = run.engine.definition(Ref(child.state.workflow))
        is_apart = begins_in_worktree(run.engine.store, definition, child.state)
        if is_apart or child.state.worktree is not None:
            return None
    return run.cwd and moved_folder(child.state.cwd, run.head.state.cwd, run.cwd)


def _why(thread: str, result: ProgramResult) -> UwfError:
    """The error that a process has printed, or how it ended without one."""
    printed = printed_error(result.stderr)
    if isinstance(printed, UwfError):
        return printed
    if result.exit_code < 0 or result.end.value == "cancelled":
        return AgentInterrupted(f"the process of branch {thread} was ended")
    return StoreError(
        f"the process of branch {thread} ended with exit code {result.exit_code} and no outcome: "
        f"{printed}",
        hint=f"`uwf thread exec {thread}` shows the cause",
    )
