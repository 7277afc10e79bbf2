"""Which failure an end of Hermes' turn is. It ends turns that failed like those that went well."""

from uwf_agent_acp.agent.failures import failure_of_status
from uwf_agent_acp.protocol.client import PromptEnd
from uwf_agent_hermes.diagnosis import Diagnosis, read_log, status_of
from uwf_core.api import (
    AgentFailure,
    AgentInterrupted,
    ContextTooLong,
    EmptyReply,
    MaxTurns,
    ProgramResult,
    Refused,
    SessionLost,
    Truncated,
    Unavailable,
)

NO_REPLY = "⚠️ No reply: "
"""How Hermes begins the answer that it gives itself where the model said nothing."""
INSTALL = "uv tool install 'hermes-agent[acp]', or name it: agents -> ALIAS -> options -> command"
SETUP = "run `hermes setup`, and look with `uwf agent check hermes`"
"""How to configure Hermes."""
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
        return failure_of_status(status, words, session, SETUP)
    if diagnosis.error_type in _UNREACHED:
        return Unavailable(words, session=session, hint=SETUP)
    if not said.strip():
        return EmptyReply("Hermes ended its turn without an answer", session=session)
    return Truncated(
        "the answer of the model behind Hermes was cut off, or its output limit reached; the end "
        f"of it: {text.strip()[-200:]!r}",
        session=session,
    )


def _max_turns(session: str) -> MaxTurns:
    return MaxTurns("Hermes reached its limit on turns", session=session)


def diagnosis_of(result: ProgramResult) -> Diagnosis:
    """What the program's log says of its end."""
    return read_log(result.stderr.decode("utf-8", "replace"))
