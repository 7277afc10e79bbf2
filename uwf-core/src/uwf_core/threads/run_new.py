"""Start a thread and run it: here, in the background, or by workers."""

from typing import TYPE_CHECKING

from uwf_core.engine.context import RunOptions
from uwf_core.engine.results import ended_by
from uwf_core.errors import UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.head import read_head
from uwf_core.threads.running import exec_steps
from uwf_core.threads.start import StartOptions, start_thread

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel


def run_workflow(
    engine: "Engine", start: StartOptions, options: RunOptions, watch: "Watch", cancel: "Cancel"
) -> "Outcome":
    """Start a thread and run it to its end. Errors as `start_thread`; what goes wrong afterwards is
    a part of the outcome, since the thread exists.
    """
    if start.queue:
        from uwf_core.threads.queued import start_queued

        return start_queued(engine, start, options, watch)
    thread = start_thread(engine, start, watch)["thread"]
    try:
        return exec_steps(engine, thread, options._replace(until_done=True), watch, cancel)
    except UwfError as error:
        return ended_by(read_head(engine.store, ThreadId(thread)), [], error)
