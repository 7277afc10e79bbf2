"""Convert the end of a program to a failure of its agent."""

import signal

from uwf_core.errors import AgentFailure, AgentInterrupted, Crashed, Stalled, TimedOut, TooLarge
from uwf_core.escape import visible
from uwf_core.process.records import End, ProgramResult

EXCERPT_CHARACTERS = 2000


def failure_of(
    result: ProgramResult, who: str, *, session: str | None = None
) -> AgentFailure | None:
    """The failure for the end of a program; None if it ended by itself with exit code 0.

    Args:
        result: how it ended.
        who: the program, for the message (`sed`, `the command 'mine'`).
        session: the agent's session, if there is one.

    Example:
        ```python
        result = request.run_program(["sed", "--version"])
        failure = failure_of(result, "sed")
        if failure is not None:
            raise failure
        ```
    """
    seconds = result.duration_ms / 1000
    match result.end:
        case End.TIMED_OUT:
            return TimedOut(
                f"{who} did not finish within its {seconds:.0f} s",
                session=session,
                hint="raise the role's `timeout` or `limits -> runSeconds`",
            )
        case End.STALLED:
            return Stalled(
                f"{who} was idle for too long; it ran {seconds:.0f} s",
                session=session,
                hint="raise `limits -> idleSeconds`, or make it append to UWF_EVENTS",
            )
        case End.TOO_LARGE:
            return TooLarge(
                f"{who} printed more than the limit",
                session=session,
                hint="raise `limits -> replyBytes`, or make it print less",
            )
        case End.CANCELLED:
            return AgentInterrupted(f"{who} was stopped", session=session)
        case End.EXITED:
            return None if result.exit_code == 0 else crashed(result, who, session)


def crashed(result: ProgramResult, who: str, session: str | None = None) -> Crashed:
    """The failure for an exit code or a signal that ended a program by itself."""
    code = result.exit_code
    how = f"exit code {code}" if code >= 0 else f"the signal {_signal_name(-code)}"
    said = excerpt(result.stderr.decode(errors="backslashreplace"), of_end=True)
    return Crashed(
        f"{who} ended with {how}" + (f"; on stderr: {said}" if said else ""), session=session
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has none
        return str(number)


def excerpt(text: str, *, of_end: bool = False) -> str:
    """The beginning (or the end) of a text for a message, with nothing unprintable in it.

    It is cut only between words: half a secret would not be recognised.
    """
    text = text.strip()
    if len(text) > EXCERPT_CHARACTERS:
        cut = text[-EXCERPT_CHARACTERS:] if of_end else text[:EXCERPT_CHARACTERS]
        words = cut.split(maxsplit=1)[1:] if of_end else cut.rsplit(maxsplit=1)[:-1]
        if not words:
            return f"({len(text)} characters without a blank)"
        text = f"…{words[0]}" if of_end else f"{words[0]}…"
    return visible(text)
