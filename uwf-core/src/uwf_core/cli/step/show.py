"""`uwf step list` and `uwf step show`."""

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import step_argument, thread_argument


@command("list", "uwf step list @last")
@thread_argument()
def list_(session: Session, thread: str) -> None:
    """List the steps of a thread, oldest first; the first row is the start."""
    from uwf_core.cli.render.step import steps_text
    from uwf_core.views.steps import list_steps

    session.emit({"steps": list_steps(session.engine, thread)}, steps_text)


@command("show", "uwf step show 3FQ8K", "uwf step show @last --format json")
@step_argument()
def show(session: Session, step: str) -> None:
    """Show one step: output, usage, timing, attempts, corrections and turns.

    STEP is an id, a unique prefix of one, or @last.
    """
    from uwf_core.cli.render.step import step_text
    from uwf_core.views.steps import show_step

    session.emit(show_step(session.engine, step), step_text)
