"""What a run came to: its failure, by the words and numbers of the program, never by its prose.
Pure.

Exit codes say little: an API error ends with `subtype: success`, a denied tool with exit code 0, a
signal while it waits with 0 and no result. So success is a `result` line without an error, and
nothing else is.
"""

import signal
from typing import NamedTuple

from uwf_agent_claude_code.lines import Result
from uwf_core.api import (
    AgentFailure,
    AgentInterrupted,
    AuthRefused,
    BadRequest,
    ContextTooLong,
    Crashed,
    End,
    InvalidOutput,
    MaxBudget,
    MaxTurns,
    ProgramResult,
    RateLimited,
    Refused,
    SessionLost,
    Truncated,
    Unavailable,
    failure_of,
)

_INTERRUPTS = frozenset((*(128 + number for number in (2, 15)), -signal.SIGINT, -signal.SIGTERM))
_ADD_CREDIT = "add credit to the account, or sign in to another one"
_CREDIT = "credit balance is too low"
_PROMPT_FOLLOWS, _HOOK_SHOWN = "\n\nOriginal prompt:", 1000
_SIGN_IN = "`claude auth login`, or ANTHROPIC_API_KEY in the environment of uwf"


class RunEvents(NamedTuple):
    """The events of a run besides its result.

    Attributes:
        session: the one that was asked for; is_resumed: whether it was to be there already.
        error: the word of its last error (`authentication_failed`, `rate_limit`, …).
        until_ms: when a limit of the service ends, if reported.
        hook: the words of a hook that blocked the prompt, or last the end of the turn.
    """

    session: str
    is_resumed: bool
    error: str | None = None
    until_ms: int | None = None
    hook: str | None = None


def failure_of_result(result: Result, events: RunEvents) -> AgentFailure | None:
    """The failure that a result is; None for success."""
    if result.is_success:
        return None
    words = result.text or "; ".join(result.errors) or result.subtype
    if result.subtype == "success":
        return _of_request(result, events, words)
    return _of_run(result, events, words)


def failure_of_hook(result: Result, events: RunEvents) -> AgentFailure | None:
    """The failure of a run that a hook ended: before the model was asked, or in place of an answer.
    The program calls both a success, the first with the hook's words as the answer.
    """
    is_answered = result.structured is not None or (result.turns and result.text.strip())
    if events.hook is None or is_answered:
        return None
    what = "the end of the turn" if result.turns else "the prompt"
    words = " ".join(events.hook.partition(_PROMPT_FOLLOWS)[0].split())[:_HOOK_SHOWN]
    return BadRequest(
        f"a hook in your settings of Claude Code blocked {what}: {words}",
        session=events.session,
        hint="change that hook, or let it pass where UWF_ATTEMPT is in its environment",
    )


def _of_run(result: Result, events: RunEvents, words: str) -> AgentFailure:
    """The failure of a run that ended before its answer."""
    session = events.session
    match result.subtype:
        case "error_max_turns":
            return MaxTurns(words, session=session, hint="raise the option `maxTurns`")
        case "error_max_budget_usd":
            return MaxBudget(words, session=session, hint="raise the option `budget`")
        case "error_max_structured_output_retries":
            return InvalidOutput(words, session=session)
    if (result.terminal_reason or "").startswith("aborted"):
        return AgentInterrupted("Claude Code was interrupted", session=session)
    if events.is_resumed and not result.turns:
        return SessionLost(
            f"Claude Code has no session {session} here: {words}",
            session=session,
            hint="older versions continue a session only in the folder in which it began",
        )
    return Crashed(f"Claude Code gave up ({result.subtype}): {words}", session=session)


def _of_request(result: Result, events: RunEvents, words: str) -> AgentFailure:
    """The failure of a request to the model, in the order in which the signs are certain."""
    session, status, error = events.session, result.status, events.error
    if result.terminal_reason == "prompt_too_long":
        return ContextTooLong(words, session=session)
    if result.stop_reason == "refusal":
        return Refused(words, session=session)
    if error == "max_output_tokens":
        return Truncated(words, session=session)
    if error == "billing_error" or status == 402 or _CREDIT in words.lower():
        return AuthRefused(words, session=session, hint=_ADD_CREDIT)
    if error == "rate_limit" or status == 429:
        return RateLimited(words, session=session, until_ms=events.until_ms)
    if error == "authentication_failed" and status is None:
        return Unavailable(words, session=session, hint=_SIGN_IN)
    if error == "authentication_failed" or status in (401, 403):
        return AuthRefused(words, session=session, hint=_SIGN_IN)
    if status is not None and 400 <= status < 500:
        hint = "correct the option `model`" if error == "model_not_found" else None
        return BadRequest(words, session=session, hint=hint)
    return Unavailable(words, session=session)


def failure_without_result(
    ended: ProgramResult, events: RunEvents, *, has_begun: bool
) -> AgentFailure:
    """The failure of a program that ended without printing a result.

    Args:
        ended: how it ended.
        events: its events.
        has_begun: whether it printed its first line.
    """
    session, code = events.session, ended.exit_code
    # A signal while it waits for the model ends it with 0 (2.1) and without a word.
    by_signal = code in _INTERRUPTS or (code == 0 and has_begun and _is_whole(ended))
    if ended.end is End.EXITED and by_signal:
        words = f"Claude Code was stopped from outside (exit code {code})"
        return AgentInterrupted(words, session=session)
    if ended.end is End.EXITED and not _is_whole(ended):
        return Truncated("the output of Claude Code breaks off in a line", session=session)
    failure = failure_of(ended, "Claude Code", session=session)
    if failure is not None:
        return failure
    return Crashed("Claude Code printed no result and ended with exit code 0", session=session)


def _is_whole(ended: ProgramResult) -> bool:
    """Whether its output ends where a line ends."""
    return not ended.stdout or ended.stdout.endswith(b"\n")
