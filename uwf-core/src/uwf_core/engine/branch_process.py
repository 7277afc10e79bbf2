"""A branch in a separate process: `uwf thread exec BRANCH` under a reaper, which ends it if this
process ends.
"""

import json
import signal
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from uwf_core.engine.call_run import folder_below
from uwf_core.engine.report import relay_line
from uwf_core.engine.results import Outcome, error_of
from uwf_core.errors import AgentInterrupted, StoreError, UwfError
from uwf_core.process.own_python import own_python
from uwf_core.process.program import ProcessLimits, Program, ProgramResult, run_program

if TYPE_CHECKING:
    from uwf_core.engine.context import Run
    from uwf_core.ids import ThreadId
    from uwf_core.thread.head import Head

_OUTPUT_BYTES = 512 * 1024 * 1024
_GRACE_SHARE = 4
"""A process that is stopped waits for its agent, whose grace period is shorter than its own."""


class BranchProcess:
    """A running branch.

    Attributes:
        thread: its thread. steps: how many it may take; None: one, or one round.
        outcome: of its run, once it has ended; error: why there is none.
    """

    def __init__(
        self,
        run: "Run",
        child: "Head",
        steps: int | None,
        env: Mapping[str, str],
        ended: "Callable[[BranchProcess], None]",
    ) -> None:
        self.thread: ThreadId = child.thread
        self.steps = steps
        self.outcome: Outcome | None = None
        self.error: UwfError | None = None
        self._run = run
        self._env = env
        self._ended = ended
        self._argv = _argv(run, child, steps)
        threading.Thread(target=self._work, name=f"branch-{child.thread}", daemon=True).start()

    def _work(self) -> None:
        try:
            self._execute()
        except UwfError as error:
            self.error = error
        except Exception as problem:
            self.error = StoreError(f"the process of branch {self.thread}: {problem}")
        self._ended(self)

    def _execute(self) -> None:
        run, engine = self._run, self._run.engine
        grace = engine.settings.limits.grace_seconds * _GRACE_SHARE
        program = Program(
            argv=self._argv, cwd=engine.cwd, env=self._env, first_signal=signal.SIGTERM
        )
        limits = ProcessLimits(total_seconds=None, grace_seconds=grace, output_bytes=_OUTPUT_BYTES)
        result = run_program(program, limits, cancel=run.cancel, on_line=self._line)
        if engine.settings.notify.command or engine.settings.notify.services:
            from uwf_core.engine.notices import send_soon  # a sender below a reaper would end

            send_soon(engine)
        if self.outcome is None:
            self.error = _why(self.thread, result)

    def _line(self, line: bytes) -> None:
        watch = self._run.watch
        self.outcome = relay_line(line, watch.relay, watch.notice) or self.outcome


def _argv(run: "Run", child: "Head", steps: int | None) -> tuple[str, ...]:
    words = [*own_python("uwf_core", "thread", "exec", child.thread), "--report"]
    words += [] if steps is None else ["-c", str(steps)]
    options, cwd = run.options, folder_below(run, child)
    wait = None if options.wait_limits is None else f"{options.wait_limits:.0f}s"
    for name, value in (("--agent", options.agent), ("--cwd", cwd), ("--wait-limits", wait)):
        words += [] if value is None else [name, value]
    return tuple(words)


def _why(thread: str, result: ProgramResult) -> UwfError:
    """The error that a process has printed, or how it ended without one."""
    lines = result.stderr.decode(errors="replace").split("\n")
    for line in reversed(lines):
        try:
            return error_of(json.loads(line)["error"])
        except (ValueError, KeyError, TypeError):
            continue
    if result.exit_code < 0 or result.end.value == "cancelled":
        return AgentInterrupted(f"the process of branch {thread} was ended")
    return StoreError(
        f"the process of branch {thread} ended with exit code {result.exit_code} and no outcome: "
        f"{' '.join(lines[-3:])}",
        hint=f"`uwf thread exec {thread}` shows the cause",
    )
