"""Start a thread and run it: here, in the background, or by workers."""

from typing import TYPE_CHECKING

from uwf_core.engine.context import RunOptions
from uwf_core.errors import UwfError
from uwf_core.threads.running import check_queue, exec_steps, handed_over
from uwf_core.threads.start import StartOptions, start_thread

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel


def run_workflow(
    engine: "Engine",
    start: StartOptions,
    options: RunOptions,
    watch: "Watch",
    cancel: "Cancel",
    *,
    background: bool = False,
) -> "Outcome":
    """Start a thread and run it to its end. Errors as `start_thread`; what goes wrong afterwards is
    a part of the outcome, since the thread exists.
    """
    from uwf_core.engine.run import outcome_after

    if start.queue:
        from uwf_core.threads.queued import start_queued

        check_queue(options, background=background)
        return handed_over(start_queued(engine, start._replace(queue=False), watch), watch)
    thread = start_thread(engine, start, watch)["thread"]
    try:
        until_done = options._replace(until_done=True)
        return exec_steps(engine, thread, until_done, watch, cancel, background=background)
    except UwfError as error:
        return outcome_after(engine, thread, error)
