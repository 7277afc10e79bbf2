"""Interpret the end of a command: a reply, or one of the failures. Pure."""

from dataclasses import fields, replace
from typing import NamedTuple

from uwf_core.agents.wire import CommandError, CommandReply, NoJson, read_reply
from uwf_core.api.agent import AgentReply, Continuation, Usage
from uwf_core.api.reply import ReplyFacts, received
from uwf_core.errors import (
    AgentFailure,
    Crashed,
    EmptyReply,
    FailureKind,
    NeedsAnswer,
    Truncated,
)
from uwf_core.fields.mismatch import FieldFault
from uwf_core.process.failure import excerpt, failure_of
from uwf_core.process.program import End, ProgramResult

NEEDS_ANSWER = "needs_answer"


class Ended(NamedTuple):
    """A finished call.

    Attributes:
        who: the command, for messages.
        result: how the program ended.
        asked: the requested session, if any.
        proves: whether the same session in the answer is proof (`continue` is declared).
        session, usage: the last ones in its events.
        forks: whether the requested session was to be copied with this prompt.
    """

    who: str
    result: ProgramResult
    asked: str | None
    proves: bool
    session: str | None = None
    usage: Usage | None = None
    forks: bool = False


def reply_of(ended: Ended) -> CommandReply:
    """The reply on the last line of stdout; it may report an error (`check_error`).

    What the program did after it had printed that line does not change the reply.

    Raises:
        AgentFailure: there is none, or the program failed and its reply has neither an output nor
            an error.
    """
    failure = failure_of(ended.result, ended.who, session=ended.session)
    if ended.result.end is End.TOO_LARGE and failure is not None:
        raise failure  # its last line was never seen
    try:
        reply = _last_line(ended)
    except AgentFailure as fault:
        if failure is not None:
            raise failure from fault
        raise
    if failure is not None and reply.error is None and not reply.output:
        raise failure
    return reply


def check_error(reply: CommandReply, ended: Ended) -> None:
    """Raise the error that a reply reports.

    Raises:
        AgentFailure: it reports one.
        NeedsAnswer: it asks a person.
    """
    if reply.error is not None:
        raise _reported(reply.error, reply.session_id, ended)


def agent_reply(reply: CommandReply, ended: Ended) -> AgentReply:
    """Convert a command's reply to the record of every agent."""
    session = reply.session_id if reply.session_id is not None else ended.session
    same = ended.asked is not None and session == ended.asked
    usual: Continuation = "continued" if same else "new"
    proof = reply.proof
    if proof is None and same and ended.proves:
        proof = "it returned the sessionId of the request"
    if proof is None and ended.forks and session and not same and reply.continuation == "forked":
        proof = "it returned the sessionId of a copy"
    usage = reply.usage or ended.usage or Usage()
    if usage.duration_ms is None:
        usage = replace(usage, duration_ms=ended.result.duration_ms)
    facts = {each.name: getattr(reply, each.name) for each in fields(ReplyFacts)}
    found = AgentReply(
        **{**facts, "proof": proof},
        text=reply.output if isinstance(reply.output, str) else None,
        structured=reply.output if isinstance(reply.output, dict) else None,
        session=session,
        continuation=reply.continuation or usual,
        usage=usage,
    )
    if ended.result.end is End.CANCELLED:  # who stopped it has the reason
        return received(found)
    return received(found, failure_of(ended.result, ended.who))


def malformed(ended: Ended, fault: FieldFault) -> Crashed:
    """The failure for a field of a wrong type."""
    return Crashed(
        f"{ended.who} printed a reply in which {fault.place() or 'the whole'} {fault.message}",
        session=ended.session,
        hint=fault.hint,
    )


def _last_line(ended: Ended) -> CommandReply:
    stdout = ended.result.stdout[: ended.result.before_stop]
    lines = stdout.rstrip().splitlines()
    if not lines:
        raise EmptyReply(
            f"{ended.who} printed nothing{_last_words(ended)}",
            session=ended.session,
            hint="the last line on stdout must be one JSON object",
        )
    try:
        return read_reply(lines[-1])
    except FieldFault as fault:
        raise malformed(ended, fault) from fault
    except NoJson as fault:
        cut = fault.cut and not stdout.endswith(b"\n")
        line = excerpt(lines[-1].decode(errors="backslashreplace"))
        raise (Truncated if cut else Crashed)(
            f"the last line that {ended.who} printed {fault}: {line}",
            session=ended.session,
            hint="the last line on stdout must be one JSON object, such as "
            '{"output": "---\\n$status: done\\n---\\n"}',
        ) from fault


def _last_words(ended: Ended) -> str:
    said = excerpt(ended.result.stderr.decode(errors="backslashreplace"), of_end=True)
    return f"; on stderr: {said}" if said else ""


def _reported(error: CommandError, session: str | None, ended: Ended) -> AgentFailure | NeedsAnswer:
    """The failure or question that a reply reports."""
    session = session or ended.session
    if error.kind == NEEDS_ANSWER:
        if error.form is None:
            fault = FieldFault(("error", "form"), "is missing", "a JSON Schema of the answer")
            return malformed(ended, fault)
        return NeedsAnswer(error.message or f"{ended.who} needs an answer", error.form)
    try:
        kind = FailureKind.of(error.kind)
    except ValueError:
        kinds = ", ".join(kind.word for kind in FailureKind)
        return Crashed(
            f"{ended.who} reports {error.kind!r}, which is not a kind of failure: {error.message}",
            session=session,
            hint=f"use one of: {kinds}, {NEEDS_ANSWER}",
        )
    message = error.message or f"{ended.who}: {kind.meaning}"
    return AgentFailure.of(kind, message, until_ms=error.until, session=session)
