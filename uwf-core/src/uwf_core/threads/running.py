"""Run a thread as a person or program asks: here, in the background, or by workers."""

from typing import TYPE_CHECKING

from uwf_core.engine.context import RunOptions
from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel


def exec_steps(
    engine: "Engine",
    thread: str,
    options: RunOptions,
    watch: "Watch",
    cancel: "Cancel",
    *,
    background: bool = False,
    queue: bool = False,
) -> "Outcome":
    """Run the next step (of branches as many as may run at a time), or as many as `options` say.

    With `background` a detached process runs it, and the call returns once that has the lock; with
    `queue` workers run it, and the call returns at once.

    Raises:
        UsageError: options that exclude each other. Else as `engine.run.exec_thread`.
    """
    if options.count is not None and not (isinstance(options.count, int) and options.count > 0):
        raise UsageError(f"{options.count!r} steps cannot be run", hint="give a count of 1 or more")
    if options.until_done and options.count is not None:
        raise UsageError(
            "-c and --until-done cannot be combined",
            hint="use -c N for N steps, --until-done for all steps",
        )
    if queue:
        from uwf_core.threads.queued import queue_thread

        check_queue(options, background=background)
        return handed_over(queue_thread(engine, thread, watch, options.head), watch)
    if background:
        from uwf_core.threads.background import run_in_background

        return run_in_background(engine, "exec", thread, options)
    from uwf_core.engine.run import exec_thread

    return exec_thread(engine, thread, options, watch, cancel)


def check_queue(options: RunOptions, *, background: bool) -> None:
    """Reject options that are for a run here."""
    given = {
        "--background": background,
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


def handed_over(outcome: "Outcome", watch: "Watch") -> "Outcome":
    """The outcome of a thread that workers run now, with a notice."""
    watch.notice(f"workers run thread {outcome.document['thread']}")
    return outcome
