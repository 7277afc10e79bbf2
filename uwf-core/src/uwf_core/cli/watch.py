"""`uwf watch`: follow a thread, or all that run, as they happen."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from uwf_core.cli.command import command
from uwf_core.cli.outcome import print_outcome
from uwf_core.cli.render.colours import is_terminal
from uwf_core.cli.session import Session
from uwf_core.cli.watch_screen import JsonLines, PlainLines
from uwf_core.errors import ExitCode, UwfError
from uwf_core.ids import ThreadId

if TYPE_CHECKING:
    from uwf_core.ids import ThreadId
    from uwf_core.views.following import Follower, Look

_POLL_SECONDS = 0.25
_NOTE_EVERY = 20
"""After how many looks the store is asked whether a worker can run the thread."""


@command("watch", "uwf watch @last", "uwf watch", "uwf watch 01JD8 --format json")
@click.argument("thread", metavar="[THREAD]", required=False)
def watch(session: Session, thread: str | None) -> int:
    """Follow a thread, or all that run: until its run ends, without THREAD until Ctrl-C.

    Shows the finished steps, the turns of agents line by line, and for each step under way its
    tools, tokens and the seconds since the last sign of life. On a terminal you can answer a
    question. Ctrl-C leaves; the run continues. Exits as `uwf thread wait`.

    Not on a terminal it prints a line of JSON for each step, turn and change of the status.
    """
    with _screen(session) as screen:
        if thread is None:
            return _watch_all(session, screen)
        from uwf_core.engine.find import find_thread

        return _watch_one(session, find_thread(session.engine, thread), screen)


def _screen(session: Session) -> PlainLines:
    if session.format != "text":
        return JsonLines(session)
    if not is_terminal(session.stdout) or session.env.get("TERM") == "dumb":
        return PlainLines(session)
    from uwf_core.cli.watch_live import LiveScreen

    return LiveScreen(session)


def _watch_one(session: Session, thread: "ThreadId", screen: PlainLines) -> int:
    from uwf_core.threads.control import is_run, wait_thread
    from uwf_core.views.following import Follower

    session.thread = thread
    follower, runs, noted = Follower(session.engine, thread), True, ""
    while runs:
        for number, look in enumerate(_looks(session, follower)):
            screen.show({thread: look})
            asks = number % _NOTE_EVERY == 0 and session.engine.has_workers
            if asks and not look.is_running:
                noted = _note_unserved(session, thread, noted)
        runs = screen.answer(thread) or is_run(session.engine, thread)
    screen.stop()
    outcome = wait_thread(session.engine, thread)
    if isinstance(screen, JsonLines):
        screen.end(outcome)
        if outcome.error is not None:
            raise outcome.error
        return outcome.exit_code
    return print_outcome(session, outcome, until_done=True, was_asked=screen.was_asked)


def _looks(session: Session, follower: "Follower") -> "Iterator[Look]":
    """Looks until nothing runs."""
    from uwf_core.threads.control import is_run

    while True:
        look = follower.look()
        yield look
        if not look.is_running and not is_run(session.engine, follower.root):
            yield follower.look()
            return
        time.sleep(_POLL_SECONDS)


def _note_unserved(session: Session, thread: "ThreadId", noted: str) -> str:
    """Report once why no worker continues the thread, or one below it."""
    from uwf_core.views.unserved import unserved_below

    message = unserved_below(session.engine, thread)
    if message and message != noted:
        session.note(message)
    return message


def _watch_all(session: Session, screen: PlainLines) -> int:
    """Until Ctrl-C, which is the end of it."""
    from uwf_core.threads.control import is_run
    from uwf_core.views.following import Follower, running_roots

    followers: dict[str, Follower] = {}
    try:
        if not running_roots(session.engine):
            session.note("nothing runs: waiting for a run; Ctrl-C leaves")
        while True:
            for root in running_roots(session.engine):
                followers.setdefault(root, Follower(session.engine, root))
            looks: dict[str, Look] = {}
            for root, follower in list(followers.items()):
                try:
                    looks[root] = follower.look()
                except UwfError:  # it was deleted
                    del followers[root]
            screen.show(looks)
            for root, look in looks.items():
                if not look.is_running and not is_run(session.engine, ThreadId(root)):
                    del followers[root]
                    screen.left(root, look)
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        session.interrupted = False
    return ExitCode.DONE
