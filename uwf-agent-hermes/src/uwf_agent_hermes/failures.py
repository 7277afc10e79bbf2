"""Which failure an end of Hermes' turn is. It ends turns that failed like those that went well."""

from uwf_agent_acp.protocol.client import PromptEnd
from uwf_agent_acp.protocol.errors import AcpError, ConnectionClosed, RpcError
from uwf_agent_hermes.diagnosis import Diagnosis, read_log, status_of
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
    SessionLost,
    Truncated,
    Unavailable,
    failure_of,
)

NO_REPLY = "⚠️ No reply: "
"""How Hermes begins the answer that it gives itself where the model said nothing."""
AUTH_REQUIRED = -32000
"""https://agentclientprotocol.com/protocol/schema#errorcode"""

_SETUP = "run `hermes setup`, and look with `uwf agent check hermes`"
_CONTEXT_FULL = "Context length exceeded"
_UNREACHED = frozenset(("APIConnectionError", "APITimeoutError", "ConnectError", "ReadTimeout"))
_SHOWN = 2000


def failure_of_end(
    end: PromptEnd, text: str, diagnosis: Diagnosis, session: str
) -> AgentFailure | None:
    """The failure that the end of a prompt is; None where `text` is an answer.

    Args:
        end: stop reason and usage.
        text: what was said last.
        diagnosis: what Hermes wrote to its log.
        session: the session, for the failure.
    """
    match end.stop_reason:
        case "cancelled":
            return AgentInterrupted("Hermes' turn was cancelled", session=session)
        case "refusal":
            return SessionLost(f"Hermes does not know the session {session}", session=session)
        case "max_turn_requests":
            return _max_turns(session)
        case "max_tokens":
            return Truncated("the model reached its output limit", session=session)
    if diagnosis.reason == "max_iterations_reached":
        return _max_turns(session)
    if diagnosis.reason == "empty_response_exhausted" or text.startswith(NO_REPLY):
        return EmptyReply("the model behind Hermes answered with nothing", session=session)
    if end.usage is None:
        return _failure_of_model(text, diagnosis, session)
    if not text.strip():
        return EmptyReply("Hermes ended its turn without an answer", session=session)
    return None


def failure_of_error(error: AcpError, result: ProgramResult, session: str | None) -> AgentFailure:
    """The failure that a broken conversation is.

    Args:
        error: what broke it.
        result: how the program ended.
        session: the session, where there is one.
    """
    if isinstance(error, RpcError):
        if error.code == AUTH_REQUIRED:
            return Unavailable(f"Hermes is not signed in: {error}", session=session, hint=_SETUP)
        return Crashed(f"Hermes answered with an error: {error}", session=session)
    if not isinstance(error, ConnectionClosed):
        return Crashed(f"Hermes does not keep to the protocol: {error}", session=session)
    ended = failure_of(result, "hermes", session=session)
    if ended is not None and error.noise:
        ended.message += f"; on stdout: {error.noise}"
    return ended or Truncated(f"Hermes ended in the middle: {error}", session=session)


def _failure_of_model(text: str, diagnosis: Diagnosis, session: str) -> AgentFailure:
    """An end without usage: a call of the model has failed, or its stream was cut."""
    said = text if status_of(text) else diagnosis.summary or diagnosis.gave_up or text
    words = f"the model behind Hermes failed: {said.strip()[:_SHOWN]}"
    if _CONTEXT_FULL in (diagnosis.gave_up or text):
        return ContextTooLong(words, session=session)
    if diagnosis.declined:
        return Refused("the model behind Hermes refused", session=session)
    status = status_of(said)
    if status is not None:
        return _failure_of_status(status, words, session)
    if diagnosis.error_type in _UNREACHED:
        return Unavailable(words, session=session, hint=_SETUP)
    if not said.strip():
        return EmptyReply("Hermes ended its turn without an answer", session=session)
    return Truncated(
        "the answer of the model behind Hermes was cut off, or its output limit reached; the end "
        f"of it: {text.strip()[-200:]!r}",
        session=session,
    )


def _failure_of_status(status: int, words: str, session: str) -> AgentFailure:
    if status in (401, 402, 403):  # 402: the account has no credit
        return AuthRefused(words, session=session, hint=_SETUP)
    if status == 429:
        return RateLimited(words, session=session)
    if status == 413:
        return ContextTooLong(words, session=session)
    if status == 408 or status >= 500:
        return Unavailable(words, session=session)
    return BadRequest(words, session=session)


def _max_turns(session: str) -> MaxTurns:
    return MaxTurns("Hermes reached its limit on turns", session=session)


def diagnosis_of(result: ProgramResult) -> Diagnosis:
    """What the program's log says of its end."""
    return read_log(result.stderr.decode("utf-8", "replace"))
