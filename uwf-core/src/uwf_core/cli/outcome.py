"""Show a run live, let signals cancel it, print its result."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uwf_core.cli.render.live import LiveWatch
from uwf_core.cli.render.style import is_terminal, screen_of
from uwf_core.cli.session import Session
from uwf_core.cli.signals import cancel_on_signals

if TYPE_CHECKING:
    from uwf_core.engine.results import Outcome
    from uwf_core.process.cancel import Cancel


def watch(session: Session) -> LiveWatch:
    """The display of a run on stderr."""
    screen = screen_of(session.stderr, session.env, session.color)
    refresh = is_terminal(session.stderr) and session.env.get("TERM") != "dumb"
    return LiveWatch(session.stderr, screen, session.write_error, refresh=refresh)


@contextmanager
def running(session: Session) -> "Iterator[tuple[LiveWatch, Cancel]]":
    """Show a run on stderr while it lasts; signals set its cancel token."""
    with cancel_on_signals(session) as cancel, watch(session) as live:
        yield live, cancel


def print_outcome(session: Session, outcome: "Outcome") -> int:
    """Print the document of an outcome; return its exit code.

    Raises:
        UwfError: the error that stopped the run.
    """
    from uwf_core.cli.render.thread import exec_text

    document = outcome.document
    session.thread = document["thread"]
    failure = document["steps"][-1]["failure"] if document["steps"] else None
    if failure is not None:
        session.failure = (failure["kind"], failure["message"])
    session.emit(document, exec_text)
    if outcome.error is not None:
        raise outcome.error
    return outcome.exit_code
