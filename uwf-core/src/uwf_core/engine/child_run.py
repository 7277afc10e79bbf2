"""Steps of a called thread: in this process, or in a separate one: `uwf thread exec CHILD` under a
reaper, which ends it if this process ends.
"""

import signal
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from uwf_core.engine.context import GO_ON
from uwf_core.engine.location import moved_folder
from uwf_core.engine.report import printed_error, relay_line, run_command
from uwf_core.engine.results import Outcome
from uwf_core.errors import AgentInterrupted, StoreError, UwfError
from uwf_core.ids import Ref
from uwf_core.process.program import ProcessLimits, Program, ProgramResult, run_program

if TYPE_CHECKING:
    from uwf_core.engine.context import Intent, Run, RunOptions
    from uwf_core.thread.head import Head

Steps = Callable[["Run", "RunOptions", "Intent"], Outcome]
"""Takes steps of a thread; `run.run_steps`."""

_OUTPUT_BYTES = 512 * 1024 * 1024
_GRACE_SHARE = 4
"""A process that is stopped waits for its agent, whose grace period is shorter than its own."""


def run_here(run: "Run", child: "Head", count: int | None, steps: Steps) -> Outcome:
    """Take `count` steps (None: one, or one round) of a called thread in this process."""
    return steps(run._replace(head=child, cwd=None), _options(run, child, count), GO_ON)


def run_in_process(run: "Run", child: "Head", count: int | None, env: Mapping[str, str]) -> Outcome:
    """The same in a separate process.

    Raises:
        UwfError: it ended without an outcome.
    """
    engine, watch = run.engine, run.watch
    grace = engine.settings.limits.grace_seconds * _GRACE_SHARE
    argv = (*run_command("exec", child.thread, _options(run, child, count)), "--report")
    program = Program(argv=argv, cwd=engine.cwd, env=env, first_signal=signal.SIGTERM)
    limits = ProcessLimits(total_seconds=None, grace_seconds=grace, output_bytes=_OUTPUT_BYTES)
    outcome: Outcome | None = None

    def on_line(line: bytes) -> None:
        nonlocal outcome
        outcome = relay_line(line, watch.relay, watch.notice) or outcome

    result = run_program(program, limits, cancel=run.cancel, on_line=on_line)
    if engine.settings.notify.command or engine.settings.notify.services:
        from uwf_core.engine.notices import send_soon  # a sender below a reaper would end

        send_soon(engine)
    if outcome is None:
        raise _why(child.thread, result)
    return outcome


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
