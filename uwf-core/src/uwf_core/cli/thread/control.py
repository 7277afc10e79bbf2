"""`uwf thread stop`, `cancel`, `wait` and `rm`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import print_outcome, watch
from uwf_core.cli.session import Session
from uwf_core.cli.words import thread_argument


@command("stop", "uwf thread stop @last", logged=True)
@thread_argument()
def stop(session: Session, thread: str) -> None:
    """Stop a run in the background; `thread exec` continues it."""
    from uwf_core.cli.render.thread import thread_text
    from uwf_core.threads.control import stop_thread

    session.thread = thread
    session.emit(stop_thread(session.engine, thread), thread_text)


@command("cancel", "uwf thread cancel @last", logged=True)
@thread_argument()
def cancel(session: Session, thread: str) -> None:
    """Cancel the thread permanently; stops it if it runs."""
    from uwf_core.cli.render.thread import thread_text
    from uwf_core.threads.close import cancel_thread

    session.thread = thread
    with watch(session) as live:
        document = cancel_thread(session.engine, thread, live)
    session.emit(document, thread_text)


@command("wait", "uwf thread wait @last --timeout 600")
@thread_argument()
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds to wait, then exit 75."
)
def wait(session: Session, thread: str, timeout: float | None) -> int:
    """Wait for the current run, print its result and exit with its code."""
    from uwf_core.threads.control import wait_thread

    return print_outcome(session, wait_thread(session.engine, thread, timeout_s=timeout))


@command("rm", "uwf thread rm 01JD8ZK3", logged=True)
@thread_argument()
def rm(session: Session, thread: str) -> None:
    """Delete a finished thread; its nodes stay until `uwf cas gc`."""
    from uwf_core.cli.render.thread import thread_text
    from uwf_core.threads.close import remove_thread

    session.thread = thread
    session.emit(remove_thread(session.engine, thread), thread_text)
