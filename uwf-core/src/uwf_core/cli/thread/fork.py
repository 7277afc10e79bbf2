"""`uwf step fork`, also named `uwf thread fork`."""

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import step_argument


@command("fork", "uwf step fork 3FQ8K", logged=True)
@step_argument()
def fork(session: Session, step: str) -> None:
    """Start a new thread that shares the chain up to STEP; copies nothing.

    STEP may be a start node. The parent thread is not affected.
    """
    from uwf_core.cli.render.thread import started_text
    from uwf_core.threads.fork import fork_step

    started = fork_step(session.engine, step)
    session.thread = started["thread"]
    session.emit(started, started_text)
