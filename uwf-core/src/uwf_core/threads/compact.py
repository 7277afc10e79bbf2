"""`thread compact`: a summary in place of older steps, in the prompts of new sessions. No step is
written, and nothing is deleted.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.agents.choose import resolve_agent
from uwf_core.agents.open import OpenAgent
from uwf_core.agents.supervise import ask_call
from uwf_core.api.agent import AskRequest, NoSink, priced, usage_payload
from uwf_core.api.sums import NOTHING_RESERVED, NOTHING_USED
from uwf_core.engine.agents import recordable
from uwf_core.engine.budget import count_above, counted_limits, still_reached
from uwf_core.engine.events import save_event
from uwf_core.engine.find import find_step, find_thread
from uwf_core.engine.locking import locked_head
from uwf_core.engine.models import model_of
from uwf_core.engine.open_plugins import opened_agent
from uwf_core.engine.plan import markdown_of
from uwf_core.engine.watch import Watch
from uwf_core.errors import (
    EmptyReply,
    LimitReached,
    NeedsAnswer,
    TooLarge,
    UnknownIdError,
    UsageError,
    WrongStateError,
)
from uwf_core.ids import Ref
from uwf_core.markdown import fenced
from uwf_core.process import crash_points
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.history import Step, newest_first, read_start, read_step, sayings, step_at
from uwf_core.thread.lifecycle import check_compact
from uwf_core.thread.limits import first_reached
from uwf_core.thread.summaries import SUMMARY_CHARACTERS, StepsSummary, newest_summary
from uwf_core.threads.ask import call_fields, check_can_answer
from uwf_core.views.summary import compacted_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uwf_core.engine.documents import CompactedDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel

RECORD_CHARACTERS = 200_000
"""The maximum size of the steps that an agent summarizes at once."""

_QUESTION = """\
Summarize the steps above for agents that continue the work in new sessions and will not see these \
steps. Keep what they need: decisions and their reasons, what was done and where (files, names, \
commands), what failed, the requests of persons, and what is still open. Leave out what later \
steps made obsolete. Write plain Markdown, at most {limit} characters, without an introduction."""


class CompactOptions(NamedTuple):
    """A summary, or the word of the agent that writes one; and the newest step to summarize, by
    default the newest of the thread.
    """

    text: str | None = None
    agent: str | None = None
    up_to: str | None = None


class _ToSummarize(NamedTuple):
    """What to summarize: the steps of a locked thread up to `last`, of which the summary `before`
    replaces some already.
    """

    engine: "Engine"
    head: Head
    last: Step
    before: StepsSummary | None


def compact_thread(
    engine: "Engine", word: str, options: CompactOptions, watch: Watch, cancel: "Cancel"
) -> "CompactedDocument":
    """Store a summary that new sessions of the thread get in place of the steps up to one.

    An agent writes it from the steps, and from the newest summary in place of those that it
    replaces. The usage of the agent counts for the thread, and for those that called it.

    Raises:
        UsageError: not exactly one of text and agent; the text is blank or too long, or the steps
            are too long for one call; the agent does not declare `ask`.
        WrongStateError: the thread is cancelled, has no step, or is compacted up to that step.
        UnknownIdError: unknown thread, or the step is not one of the thread.
        LimitReached: an agent is named, and a limit of the thread is reached.
        BusyError: another process runs the thread.
        AgentFailure: the agent failed, or its summary is empty or too long.
    """
    _check_options(options)
    thread = find_thread(engine, word)
    with locked_head(engine, thread, watch.notice) as head:
        check_compact(head.state, thread)
        span = _span(engine, head, options.up_to)
        if options.text is not None:
            written = _by_person(engine, options.text)
        else:
            written = _by_agent(span, options.agent or "", cancel)
        return _save(span, written)


def _check_options(options: CompactOptions) -> None:
    if (options.text is None) == (options.agent is None):
        raise UsageError(
            "one of --text and --agent is needed"
            if options.text is None
            else "--text and --agent cannot be combined",
            hint="--text @summary.md stores a text; --agent NAME lets an agent write one",
        )
    if options.text is not None and not options.text.strip():
        raise UsageError("the summary is blank", where="--text")


def _span(engine: "Engine", head: Head, up_to: str | None) -> _ToSummarize:
    last = _last_step(engine, head, up_to)
    before = newest_summary(engine.store, head.state.compacted, head.ref)
    if before is not None and last.payload["number"] <= before.number:
        raise WrongStateError(
            f"thread {head.thread} is already compacted up to step {before.number}",
            hint=f"to see the summary: uwf thread read {head.thread}",
        )
    return _ToSummarize(engine, head, last, before)


def _last_step(engine: "Engine", head: Head, word: str | None) -> Step:
    newest = read_step(engine.store, head.ref)
    if word is None:
        return newest
    wanted = find_step(engine, word)
    number = engine.store.payload(wanted).get("number", 0)  # a start has none
    if 0 < number <= newest.payload["number"]:
        found = step_at(engine.store, newest, number)
        if found.ref == wanted:
            return found
    raise UnknownIdError(
        f"{wanted} is not a step of thread {head.thread}",
        where="--up-to",
        hint=f"next: uwf step list {head.thread}",
    )


def _by_person(engine: "Engine", text: str) -> dict[str, Any]:
    """The summary, and how it was written, as the fields of its event."""
    clean, now = engine.redactor.text(text.strip()), engine.now_ms()
    if len(clean) > SUMMARY_CHARACTERS:
        raise UsageError(
            f"the summary has {len(clean)} characters; the maximum is {SUMMARY_CHARACTERS}",
            where="--text",
        )
    by_agent = dict.fromkeys(("agent", "model", "prompt"))
    times = {"startedAtMs": now, "completedAtMs": now}
    return {"summary": clean, **by_agent, **times, "usage": NOTHING_USED}


def _by_agent(span: _ToSummarize, word: str, cancel: "Cancel") -> dict[str, Any]:
    """The summary of an agent, in one call without tools if it can be restricted."""
    engine, state = span.engine, span.head.state
    _check_limits(engine, span.head)
    record = engine.redactor.text("\n\n".join(_record(span)))
    if len(record) > RECORD_CHARACTERS:
        raise UsageError(
            f"the steps to summarize have {len(record)} characters; the maximum for one call is "
            f"{RECORD_CHARACTERS}",
            hint="compact a part of them first, with --up-to STEP",
        )
    question = _QUESTION.format(limit=SUMMARY_CHARACTERS // 2)
    choice = recordable(engine, resolve_agent(word, engine.agent_catalog(state.cwd)))
    with opened_agent(engine, choice, None) as agent:
        check_can_answer(agent)
        started, model = engine.now_ms(), model_of(engine, agent.capabilities, None)
        request = AskRequest(
            **call_fields(engine, agent, state.cwd, cancel),
            thread=state.thread,
            role=span.last.payload["role"],
            step_number=span.last.payload["number"],
            tools=() if "tools" in agent.capabilities else None,
            model=model,
            question=question,
            record=record,
        )
        try:
            reply = ask_call(agent, request, NoSink())
        except NeedsAnswer as error:
            raise UsageError(
                f"{agent.origin} cannot write a summary: it needs an answer itself",
                hint="name another --agent, or write the summary with --text",
            ) from error
        text = engine.redactor.text((reply.text or "").strip())
        _check_reply(agent, text)
        return {
            "summary": text,
            "agent": agent.name,
            "model": reply.model and engine.redactor.text(reply.model),
            "prompt": f"{record}\n\n# Question\n\n{question}",
            "startedAtMs": started,
            "completedAtMs": engine.now_ms(),
            "usage": usage_payload(priced(reply.usage, model)),
        }


def _check_reply(agent: OpenAgent, text: str) -> None:
    hint = "nothing is stored; name another --agent, or write the summary with --text"
    if not text:
        raise EmptyReply(f"{agent.origin} wrote no summary", hint=hint)
    if len(text) > SUMMARY_CHARACTERS:
        raise TooLarge(
            f"the summary of {agent.origin} has {len(text)} characters; the maximum is "
            f"{SUMMARY_CHARACTERS}",
            hint=hint,
        )


def _check_limits(engine: "Engine", head: Head) -> None:
    """Check that no limit is reached: of the thread, or of those that called it."""
    state, hint = head.state, "to write the summary yourself: --text @FILE"
    waits = state.suspension
    if waits is not None and waits.reason == "limit" and still_reached(engine, state):
        raise LimitReached(waits.message, None, hint=hint)
    reached = first_reached(counted_limits(engine, state, None), NOTHING_RESERVED, "")
    if reached is not None:
        raise LimitReached(reached.words(head.thread), reached, hint=hint)


def _record(span: _ToSummarize) -> "Iterator[str]":
    """The task, the summary so far, and the steps after that, as Markdown."""
    store, before, last = span.engine.store, span.before, span.last
    start = read_start(store, Ref(span.head.state.start))
    yield f"# Task\n\n{fenced(store.text(Ref(start['prompt'])))}"
    yield "# What happened"
    if before is not None:
        yield f"## Summary of the steps up to {before.number}\n\n{fenced(before.text(store))}"
    steps = list[Step]()
    for step in newest_first(store, last.ref, Ref(span.head.state.start), ("output", "body")):
        if before is not None and step.payload["number"] <= before.number:
            break
        steps.append(step)
    for step in reversed(steps):
        yield markdown_of(store, step, sayings(store, step))


def _save(span: _ToSummarize, written: dict[str, Any]) -> "CompactedDocument":
    """Store the event. The head is read again: a grant needs no lock, and an agent takes long."""
    engine, thread = span.engine, span.head.thread
    with engine.store.transaction():
        texts = ("summary", "prompt") if written["prompt"] else ("summary",)
        refs = {name: engine.store.put_text(written[name]) for name in texts}
        crash_points.reach("compact")
        newest = read_head(engine.store, thread)
        head = save_event(
            engine,
            newest,
            "compacted",
            by=engine.person(),
            step=span.last.ref,
            previous=newest.state.compacted,
            **{**written, **refs},
        )
        if head.state.caller is not None and head.state.compacted is not None:
            count_above(engine, head.state, Ref(head.state.compacted))
    found = newest_summary(engine.store, head.state.compacted, head.ref)
    assert found is not None
    return compacted_document(engine.store, thread, found)
