"""Which failure an error or an end of an agent's turn is."""

import re

from uwf_agent_acp.protocol.client import PromptEnd
from uwf_agent_acp.protocol.errors import AcpError, ConnectionClosed, RpcError
from uwf_core.api import (
    AgentFailure,
    AgentInterrupted,
    AuthRefused,
    BadRequest,
    ContextTooLong,
    Crashed,
    EmptyReply,
    MaxTurns,
    ProgramResult,
    RateLimited,
    Refused,
    Truncated,
    Unavailable,
    failure_of,
)

AUTH_REQUIRED = -32000
"""https://agentclientprotocol.com/protocol/schema#errorcode"""

_STATUS = re.compile(
    r"(?:API Error|HTTP|status(?:[ _]?code)?|Server error|Bad request)\W{0,6}(?:status\W{0,3})?"
    r"([45]\d\d)\b",
    re.IGNORECASE,
)
_LEADING_STATUS = re.compile(r"\A\W*(?:Internal error\W+)?([45]\d\d)\b")
_WORDS: tuple[tuple[re.Pattern[str], type[AgentFailure]], ...] = (
    (
        re.compile(r"context (?:length|window|limit)|prompt is too long", re.IGNORECASE),
        ContextTooLong,
    ),
    (re.compile(r"rate.?limit|too many requests|overloaded.?quota", re.IGNORECASE), RateLimited),
    (
        re.compile(
            r"ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|connection error|unable to connect"
            r"|could not connect|network error|fetch failed|'details': 'terminated'"
            r"|stream disconnected|internal_server_error|high demand|overloaded",
            re.IGNORECASE,
        ),
        Unavailable,
    ),
    (re.compile(r"add (?:more )?credits", re.IGNORECASE), AuthRefused),
    (re.compile(r"returned an empty response", re.IGNORECASE), EmptyReply),
    (re.compile(r"maximum number of actions", re.IGNORECASE), MaxTurns),
)
SHOWN = 2000
"""So many characters of an agent's words are shown."""


def failure_of_end(who: str, end: PromptEnd, text: str, session: str) -> AgentFailure | None:
    """The failure that the end of a prompt is; None where `text` is an answer."""
    match end.stop_reason:
        case "cancelled":
            return AgentInterrupted(f"the turn of {who} was cancelled", session=session)
        case "refusal":
            return Refused(f"the model behind {who} refused", session=session)
        case "max_turn_requests":
            return MaxTurns(f"{who} reached its limit on turns", session=session)
        case "max_tokens":
            return Truncated("the model reached its output limit", session=session)
    if not text.strip():
        return EmptyReply(f"{who} ended its turn without an answer", session=session)
    return None


def failure_of_error(
    who: str, error: AcpError, result: ProgramResult, session: str | None, hint: str | None
) -> AgentFailure:
    """The failure that a broken conversation is.

    Args:
        who: the agent. error: what broke it.
        result: how the program ended.
        session: the session, where there is one.
        hint: how to sign in.
    """
    if isinstance(error, RpcError):
        if error.code == AUTH_REQUIRED:
            return Unavailable(f"{who} is not signed in: {error}", session=session, hint=hint)
        return failure_of_model(who, error, session, hint)
    if not isinstance(error, ConnectionClosed):
        return Crashed(f"{who} does not keep to the protocol: {error}", session=session)
    ended = failure_of(result, who, session=session)
    if ended is not None and error.noise:
        ended.message += f"; on stdout: {error.noise}"
    return ended or Truncated(f"{who} ended in the middle: {error}", session=session)


def failure_of_model(
    who: str, error: RpcError, session: str | None, hint: str | None
) -> AgentFailure:
    """The failure of an error that the agent answers a prompt with: by the status of the model's
    service, where its words have one.
    """
    said = f"{who} answered with an error: {str(error)[:SHOWN]}"
    if 400 <= error.code < 600:  # Gemini CLI
        return failure_of_status(error.code, said, session, hint)
    return failure_of_words(f"{error.message} {error.data or ''}", said, session, hint)


def failure_of_words(words: str, said: str, session: str | None, hint: str | None) -> AgentFailure:
    """The failure that an agent describes by `words`; `said` is its message."""
    found = _STATUS.search(words) or _LEADING_STATUS.search(words)
    if found is not None:
        return failure_of_status(int(found[1]), said, session, hint)
    for pattern, kind in _WORDS:
        if pattern.search(words):
            return kind(said, session=session)
    return Crashed(said, session=session)


def failure_of_status(
    status: int, words: str, session: str | None, hint: str | None
) -> AgentFailure:
    """The failure for a status of the model's service; `hint`: how to sign in."""
    if status in (401, 402, 403):  # 402: the account has no credit
        return AuthRefused(words, session=session, hint=hint)
    if status == 429:
        return RateLimited(words, session=session)
    if status == 413:
        return ContextTooLong(words, session=session)
    if status == 408 or status >= 500:
        return Unavailable(words, session=session)
    return BadRequest(words, session=session)
