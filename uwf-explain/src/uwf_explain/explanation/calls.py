"""What happened until a step was delivered, in its order: words of persons, questions, failures."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from uwf_core.api import RecordedEvent, RecordedStep
from uwf_core.errors import FailureKind
from uwf_explain.explanation.events import event_statement
from uwf_explain.explanation.statements import Statement
from uwf_explain.explanation.surroundings import Surroundings
from uwf_explain.explanation.words import (
    cost,
    duration,
    moment,
    on,
    ordinal,
    plain,
    program,
    quoted,
    used,
)


class PersonCall(NamedTuple):
    """A call of an agent as a person made it.

    Attributes:
        ref: the node that names the person. node: its payload. said: the words of the person.
    """

    ref: str
    node: Mapping[str, Any]
    said: str | None


def first_call(step: RecordedStep, around: Surroundings) -> PersonCall:
    """The call with which the work at a step began."""
    for event in around.events:
        if event.call is not None:
            return call_of(event)
    first = next(step.tries())
    return PersonCall(first.ref, first.node, first.said)


def call_of(event: RecordedEvent) -> PersonCall:
    """The call that ended with a question."""
    return PersonCall(str(event.payload["attempt"]), event.call or {}, event.said)


def reopened(call: PersonCall) -> Statement:
    """Who opened a run again that had ended."""
    asked = call.node["attempt"]
    if asked["purpose"] != "resume":  # a fork knows the steps of a called run, not its calls
        return Statement("called", "The run was called again, after it had ended.", (call.ref,))
    text = f"{on(call.node['startedAtMs'], asked['by'])} opened the run again, which had ended"
    if call.said is None:
        return _person("reopened", f"{text}.", (call.ref,))
    text = f"{text}, with these words:"
    return _person("reopened", text, (call.node["attempt"]["said"], call.ref), call.said)


def _person(kind: str, text: str, refs: tuple[str, ...], quote: str | None = None) -> Statement:
    """What a person did; the summary has all of it."""
    return Statement(kind, text, refs, quote, brief=text)


def history(step: RecordedStep, around: Surroundings) -> Iterator[Statement]:
    """What happened before the step was delivered, and what persons said for it."""
    told = {first_call(step, around).node["attempt"]["said"]} if around.is_reopened else set()
    for happened in _in_order(step, around):
        if isinstance(happened, _Failure):
            yield from _untold(said_statements(happened.step), told)
            yield attempt_statement(happened.step, happened.number)
        elif isinstance(happened, _Replaced):
            yield from _untold(said_statements(happened.step), told)
            yield _replaced_statement(happened.step)
        elif happened.kind != "called":  # the section begins with it
            call = call_of(happened) if happened.kind == "asked" else None
            if call is not None and call.said is not None:
                yield from _untold((_wrote(call),), told)
                told.add(call.node["attempt"]["said"])
            yield event_statement(happened)
    yield from _untold(said_statements(step), told)


def attempts_and_events(
    attempts: list[RecordedStep], events: list[RecordedEvent]
) -> Iterator[Statement]:
    """What happened after the last step."""
    happened: list[tuple[int, list[Statement]]] = [
        (each.payload["seq"], [event_statement(each)]) for each in events
    ]
    for number, each in enumerate(attempts, 1):
        statements = [*said_statements(each), attempt_statement(each, number)]
        happened.append((each.node["seq"], statements))
    for _, statements in sorted(happened, key=lambda each: each[0]):
        yield from statements


class _Failure(NamedTuple):
    """A failed attempt; `number` counts the attempts at one reply."""

    step: RecordedStep
    number: int


class _Replaced(NamedTuple):
    """A step that was replaced."""

    step: RecordedStep


def _in_order(
    step: RecordedStep, around: Surroundings
) -> list[_Failure | _Replaced | RecordedEvent]:
    """Attempts, replaced steps and events, as they happened. A fork inherits steps of another
    thread: these came first, and their numbers are of that thread.
    """
    found: list[tuple[bool, int, _Failure | _Replaced | RecordedEvent]] = [
        (True, each.payload["seq"], each) for each in around.events
    ]
    for each in step.replaced:
        found.append((*_place(each, around), _Replaced(each)))
    for each in (*step.replaced, step):
        for number, attempt in enumerate(each.attempts, 1):
            found.append((*_place(attempt, around), _Failure(attempt, number)))
    return [each for *_, each in sorted(found, key=lambda each: each[:2])]


def _place(step: RecordedStep, around: Surroundings) -> tuple[bool, int]:
    return step.node["thread"] == around.thread, step.node["seq"]


def _untold(
    statements: Iterator[Statement] | tuple[Statement], told: set[str]
) -> Iterator[Statement]:
    """Without words that the page shows already: those of a call that asked are repeated later."""
    for each in statements:
        if each.kind != "said" or each.refs[0] not in told:
            yield each


def _wrote(call: PersonCall) -> Statement:
    text = f"{on(call.node['startedAtMs'], call.node['attempt']['by'])} wrote:"
    return _person("said", text, (call.node["attempt"]["said"], call.ref), call.said)


def said_statements(step: RecordedStep) -> Iterator[Statement]:
    """What a person said for this call, and the answer that the agent had asked for."""
    node = step.node["attempt"]
    who = on(step.node["startedAtMs"], node["by"])
    if (said := step.said) is not None:
        redo = node["purpose"] == "poke"
        text = f"{who} asked to redo the reply:" if redo else f"{who} wrote:"
        yield _person("said", text, (str(node["said"]), step.ref), said)
    if node["answer"] is not None and not step.is_answer:
        text = f"{who} answered the question of the {step.role}:"
        yield _person("answer", text, (str(node["answer"]), step.ref), _lines_of(step.answer))


def _lines_of(answer: object) -> str:
    if isinstance(answer, Mapping):
        return "\n".join(f"{name}: {plain(value)}" for name, value in answer.items())
    return plain(answer)


def attempt_statement(attempt: RecordedStep, number: int) -> Statement:
    """A failed attempt."""
    node, failure = attempt.node, attempt.failure
    kind = "" if failure is None else str(failure["kind"])
    who, why = f"The {ordinal(number)} attempt of the {attempt.role}", FailureKind.of(kind).meaning
    agent = program(node["agent"] or "")
    text = (
        f"{who} ({agent}) began on {moment(node['startedAtMs'])} and failed after "
        f"{duration(attempt.duration_ms)}: {why} ({quoted(kind)}). {cost(used(node))} The "
        "message was:"
    )
    message = "" if failure is None else str(failure["message"])
    brief = f"{who} failed: {why} ({quoted(kind)})."
    return Statement("attempt", text, (attempt.ref,), message, brief=brief)


def _replaced_statement(step: RecordedStep) -> Statement:
    who = "person" if step.is_answer else step.role
    text = (
        f"The {who} first decided {quoted(step.status)}. This reply was replaced, because a "
        f"person asked for another one. {cost(used(step.node))}"
    )
    return Statement("replaced", text, (step.ref, str(step.node["output"])))
