"""A question to the person at the terminal, asked right after the run that led to it."""

from typing import TYPE_CHECKING

from uwf_core.cli.outcome import print_outcome, running
from uwf_core.cli.session import Session
from uwf_core.errors import PayloadError, UwfError

if TYPE_CHECKING:
    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.results import Outcome
    from uwf_core.threads.running import Input
    from uwf_core.views.inbox import InboxItem


def answered_here(
    session: Session, outcome: "Outcome", options: "RunOptions"
) -> "tuple[Outcome, bool]":
    """The outcome after the person at this terminal has answered what the run asks, and whether a
    question was shown and left pending. Without a terminal it is the outcome of the run.
    """
    if outcome.document["suspendReason"] != "role":
        return outcome, False
    from uwf_core.cli.form import ask_person, can_ask
    from uwf_core.views.inbox import waiting_in

    thread = outcome.document["thread"]
    while can_ask(session) and outcome.document["suspendReason"] == "role":
        items = [each for each in waiting_in(session.engine, thread) if each["kind"] in _ASKS]
        if not items:
            break
        said = ask_person(session, items[0])
        if said is None:
            return outcome, True
        try:
            outcome = _continued(session, outcome, options, items, said)
        except PayloadError as error:  # nothing has changed
            session.note(f"{error.message}\n")
        except UwfError as error:  # such as: another person was faster
            return outcome._replace(exit_code=error.exit_code, error=error), True
    return outcome, False


_ASKS = ("question", "message")


def _continued(
    session: Session,
    before: "Outcome",
    options: "RunOptions",
    items: "list[InboxItem]",
    said: "Input",
) -> "Outcome":
    """The outcome of the thread after an answer; of several branches that wait, to the first."""
    from uwf_core.engine.run import exec_thread
    from uwf_core.threads.resume import resume_thread

    engine, root, item = session.engine, before.document["thread"], items[0]
    own = options._replace(head=item["head"], earlier=(), announce=None)
    with running(session) as (live, cancel):
        if len(items) == 1:
            after = resume_thread(engine, root, said, own, live, cancel)
        else:
            below = resume_thread(engine, item["thread"], said, own, live, cancel)
            go_on = own._replace(head=None, earlier=below.document["steps"])
            after = exec_thread(engine, root, go_on, live, cancel)
    after.document["steps"][:0] = before.document["steps"]
    return after


def print_and_ask(session: Session, outcome: "Outcome", options: "RunOptions") -> int:
    """Ask the person at the terminal what the run asks, then print the outcome; the exit code."""
    was_asked = False
    if outcome.error is None:
        outcome, was_asked = answered_here(session, outcome, options)
    until_done = options.until_done
    return print_outcome(session, outcome, until_done=until_done, was_asked=was_asked)
