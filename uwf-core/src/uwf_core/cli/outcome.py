"""Show a run live, let signals cancel it, print its result."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen, is_terminal, screen_of
from uwf_core.cli.render.live import LiveWatch
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
    document = outcome.document
    session.thread = document["thread"]
    failure = document["steps"][-1]["failure"] if document["steps"] else None
    if failure is not None:
        session.failure = (failure["kind"], failure["message"])
    session.emit(document, exec_text)
    if outcome.error is not None:
        raise outcome.error
    return outcome.exit_code


def exec_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The result of `exec`, `run`, `resume`, `poke` and `wait`."""
    lines = [step_line(each, screen) for each in document["steps"]]
    last = document["steps"][-1] if document["steps"] else None
    follows = f"; next: {last['currentRole']}" if last and document["status"] == "idle" else ""
    lines.append(f"{document['thread']} {screen.status(document['status'])}{follows}")
    if follows:
        lines.append(screen.paint(f"next: uwf thread exec {document['thread']}", "dim"))
    if document["suspendMessage"]:
        lines.append(document["suspendMessage"])
        lines.append(screen.paint(f"next: uwf thread show {document['thread']}", "dim"))
    return "\n".join(lines)


def step_line(step: Mapping[str, Any], screen: Screen) -> str:
    """One step of an exec: its id, role, agent, time and failure."""
    failure = step["failure"]
    parts = [step["step"] or "–", step["role"] or "–", step["agent"] or "–"]
    parts.append(amounts.duration(step["durationMs"]))
    if failure:
        until = failure["until"]
        when = "" if until is None else f" (until {amounts.moment(until)})"
        parts.append(screen.paint(f"{failure['kind']}: {failure['message']}{when}", "error"))
    return "  ".join(parts)
