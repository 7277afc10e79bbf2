"""`--queue`: hand a thread to workers instead of running it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from uwf_core.cli.outcome import print_outcome, running
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_core.cli.outcome import LiveWatch
    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.results import Outcome
    from uwf_core.process.cancel import Cancel


def hand_over(
    session: Session,
    options: "RunOptions",
    call: "Callable[[LiveWatch, Cancel], Outcome]",
    *,
    background: bool,
) -> int:
    """Hand a thread over by `call`, and print it; the exit code.

    Raises:
        UsageError: an option is for a run here.
    """
    given = {
        "--background": background,
        "-c": options.steps,
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
    with running(session) as (live, cancel):
        outcome = call(live, cancel)
        live.notice(f"workers run thread {outcome.document['thread']}")
    return print_outcome(session, outcome)
