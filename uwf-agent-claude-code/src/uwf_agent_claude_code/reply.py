"""What a run came to: the reply, or its failure. Reads transcripts, and nothing else."""

from pathlib import Path
from typing import NamedTuple

from uwf_agent_claude_code.outcome import (
    failure_of_hook,
    failure_of_result,
    failure_without_result,
)
from uwf_agent_claude_code.schemas import unwrapped
from uwf_agent_claude_code.sessions import Plan
from uwf_agent_claude_code.stream import Stream
from uwf_agent_claude_code.transcripts import find_transcript
from uwf_agent_claude_code.usage import usage_of, usage_without_result
from uwf_core.api import (
    AgentFailure,
    AgentReply,
    EmptyReply,
    End,
    ProgramResult,
    Usage,
    failure_of,
    received,
)

WHO = "Claude Code"


class Run(NamedTuple):
    """A run that is over."""

    stream: Stream
    ended: ProgramResult


def used(run: Run, plan: Plan) -> Usage:
    """What it used: at least what its messages report where it printed no result."""
    stream, took = run.stream, run.ended.duration_ms
    if stream.counted is None:
        return usage_without_result(stream.messages.values(), stream.turns_seen, took)
    return usage_of(stream.counted, plan.ledger, stream.turns_seen, took)


def reply_of(run: Run, plan: Plan, usage: Usage, folder: Path, *, is_typed: bool) -> AgentReply:
    """What the run came to.

    Raises:
        AgentFailure: it failed, or is not shown to be in its session.
    """
    stream = run.stream
    result = stream.result
    if result is None or not result.is_success:
        raise _failure(run, plan)
    blocked = failure_of_hook(result, stream.events())
    if blocked is not None:
        raise blocked
    transcript = find_transcript(folder, plan.session)
    proof = plan.proof(transcript, result.session)
    structured = None
    if is_typed and result.structured is not None:
        structured = unwrapped(result.structured)
    elif is_typed:
        stream.turns.note(f"{WHO} delivered no object; its text is read")
    # Its last turn may be only a use of a tool, such as its list of tasks.
    text = result.text if result.text.strip() else stream.turns.last_text
    if structured is None and not text:
        raise EmptyReply(f"{WHO} delivered nothing", session=plan.session)
    reply = AgentReply(
        text=text if structured is None else None,
        structured=structured,
        session=result.session,
        continuation="new" if plan.resumes is None else "continued",
        proof=proof,
        usage=usage,
        model=stream.model,
        agent_version=None if stream.init is None else stream.init.version,
        stop_reason=result.stop_reason,
        denials=result.denials,
        mark=None if transcript is None else transcript.last,
    )
    return received(reply, _later_fault(run))


def _later_fault(run: Run) -> str | AgentFailure | None:
    """What went wrong after the result."""
    later = run.stream.later
    if later is not None:
        words = later.text or "; ".join(later.errors)
        return f"{WHO} reported {later.subtype}" + (f": {words}" if words else "")
    if run.ended.end is End.CANCELLED:
        return f"{WHO} did not end after its result, and was stopped"
    return failure_of(run.ended, WHO)


def _failure(run: Run, plan: Plan) -> AgentFailure:
    """The failure of a run without success: by our limits, else by its result."""
    stream, ended = run
    if ended.end is End.EXITED and stream.result is not None:
        failure = failure_of_result(stream.result, stream.events())
        if failure is not None:
            return failure
    return failure_without_result(ended, stream.events(), has_begun=stream.init is not None)
