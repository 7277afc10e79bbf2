"""The section of a step: what the role was asked, what it delivered, and where that led."""

from collections.abc import Iterator, Mapping

from uwf_core.api.reading import RecordedStep
from uwf_core.errors import FailureKind
from uwf_core.named_tuple import NamedTuple
from uwf_core.views.why.prompt_parts import (
    END,
    FORM,
    HISTORY,
    INSTRUCTION,
    MEANING,
    PERSON,
    PROGRESS,
    REMINDER,
    REPLACED,
    SAID,
    TASK,
    PromptPart,
    split_prompt,
)
from uwf_core.views.why.statements import Statement, WhySection
from uwf_core.views.why.words import cost, duration, ordinal, person, plain, quoted

_START, _END, _SUSPEND = "$START", "$END", "$SUSPEND"
_LONG = 120
"""A field with more characters, or several lines, is quoted."""
_WORTH_A_REFERENCE = 400
"""A longer part of a prompt that another section shows is not shown again."""

_SESSIONS: Mapping[str, str] = {
    "new": "It began a new session, so it knew only what the prompt says.",
    "continued": "It continued its earlier session, so it remembered its earlier work.",
    "forked": "It worked in a copy of its earlier session, so it remembered its earlier work.",
    "restarted": "Its earlier session was lost, so it began a new one and got the whole history.",
}


class Surroundings(NamedTuple):
    """What a section needs besides its step.

    Attributes:
        thread: the id. task: its text. task_ref: the node of that text. cwd: its folder.
        earlier: the references of the steps before, oldest first.
        previous: the step before, None for the first.
        is_reopened: whether the thread had ended before this step.
        shown: the long parts of prompts that the page shows already, with the step of each.
    """

    thread: str
    task: str
    task_ref: str
    cwd: str
    earlier: list[str]
    previous: RecordedStep | None
    is_reopened: bool
    shown: dict[str, int]


def step_section(
    step: RecordedStep, around: Surroundings, before: tuple[Statement, ...]
) -> WhySection:
    """The section of a step.

    Args:
        step: a step of the chain.
        around: the thread.
        before: what happened in the thread just before it.
    """
    replaced = list(_replaced(step))
    statements = [_asked(step, around), _instruction(step, around), *before]
    for each in replaced:
        statements += _of_replaced(each)
    for number, attempt in enumerate(step.attempts, 1):
        statements += attempt_statements(attempt, number)
    statements += [*_said(step), _worker(step, around.cwd), *_denied(step), *_corrections(step)]
    statements += [*_delivered(step), *_route(step), _cost(step)]
    return WhySection(
        title=f"Step {step.number}: {step.role} – {_outcome(step)}",
        statements=tuple(statements),
        prompt=tuple(_prompt(step, around)),
        step=step.ref,
        number=step.number,
        role=step.role,
        status=step.status,
        nodes=(step.ref, *(each.ref for each in replaced), *step.node["previousAttempts"]),
    )


def attempt_statements(attempt: RecordedStep, number: int) -> Iterator[Statement]:
    """A failed attempt, with what a person said for it."""
    yield from _said(attempt)
    failure = attempt.failure
    kind = str(attempt.node["failure"])
    meaning = FailureKind.of(kind).meaning
    took, used = duration(attempt.duration_ms), cost(attempt.node["usage"])
    yield Statement(
        "attempt",
        f"The {ordinal(number)} attempt of the {attempt.role} (agent {attempt.node['agent']}) "
        f"failed after {took} with {quoted(kind)}: {meaning}. {used} The message was:",
        (attempt.ref, attempt.node["output"]),
        "" if failure is None else str(failure["message"]),
    )


def _replaced(step: RecordedStep) -> Iterator[RecordedStep]:
    """The steps that this one replaced, oldest first."""
    found = []
    older = step.replaced
    while older is not None:
        found.append(older)
        older = older.replaced
    return reversed(found)


def _asked(step: RecordedStep, around: Surroundings) -> Statement:
    """Why this role was next."""
    previous, workflow = around.previous, step.workflow
    role = quoted(step.role)
    if previous is None or around.is_reopened:
        edge, why = ("resume", "The thread had ended and a person opened it again. ")
        if previous is None:
            edge, why = ("new", "")
        text = f"{why}The workflow begins with the role {role} (rule graph.{_START}.{edge})."
        refs = (workflow.ref,) if previous is None else (workflow.ref, previous.ref)
        return Statement("asked", text, refs)
    if _was_asked(step, around):
        text = (
            f"Step {previous.number} ({previous.role}) had stopped to ask a person. After the "
            f"reply of the person, the role {role} worked again."
        )
        return Statement("asked", text, (previous.ref,))
    text = (
        f"The role {role} was next because step {previous.number} ({previous.role}) ended with "
        f"{quoted(previous.status)} (rule {_rule(previous)})."
    )
    return Statement("asked", text, (previous.ref, workflow.ref))


def _was_asked(step: RecordedStep, around: Surroundings) -> bool:
    """Whether the step before had stopped the thread to ask a person."""
    previous = around.previous
    if previous is None or around.is_reopened:
        return False
    edge = step.workflow.graph.get(previous.role, {}).get(previous.status or "")
    return edge is None or edge.role != step.role


def _instruction(step: RecordedStep, around: Surroundings) -> Statement:
    text = f"The {step.role} got this instruction:"
    if _was_asked(step, around):
        text = "The question to the person had been:"
    return Statement("instruction", text, (step.node["edgePrompt"],), step.edge_prompt)


def _said(step: RecordedStep) -> Iterator[Statement]:
    """What a person said for this call, and the answer that the agent had asked for."""
    who = person(step.node["by"])
    if (said := step.said) is not None:
        redo = step.node["purpose"] == "poke"
        text = f"{who} asked to redo the reply:" if redo else f"{who} wrote:"
        yield Statement("said", text, (step.node["said"],), said)
    if step.node["answer"] is not None and not step.is_answer:
        text = f"{who} answered the question of the {step.role}:"
        yield Statement("answer", text, (step.node["answer"],), _lines_of(step.answer))


def _lines_of(answer: object) -> str:
    if isinstance(answer, Mapping):
        return "\n".join(f"{name}: {plain(value)}" for name, value in answer.items())
    return plain(answer)


def _of_replaced(step: RecordedStep) -> Iterator[Statement]:
    for number, attempt in enumerate(step.attempts, 1):
        yield from attempt_statements(attempt, number)
    yield from _said(step)
    yield Statement(
        "replaced",
        f"The {step.role} first decided {quoted(step.status)}. This reply was replaced, because a "
        f"person asked for another one. {cost(step.node['usage'])}",
        (step.ref, step.node["output"]),
    )


def _worker(step: RecordedStep, cwd: str) -> Statement:
    node = step.node
    where = "" if node["cwd"] == cwd else f" It worked in the folder {node['cwd']}."
    if step.is_answer:
        text = f"{person(node['by'])} gave the result of this step; no model was used."
        return Statement("worker", text + where, (step.ref,))
    model = "model unknown" if node["model"] is None else f"model {node['model']}"
    session = _SESSIONS[node["continuation"]]
    text = f"The agent {node['agent']} ({model}) did the work. {session}{where}"
    return Statement("worker", text, (step.ref,))


def _denied(step: RecordedStep) -> Iterator[Statement]:
    if step.node["denials"]:
        names = ", ".join(step.node["denials"])
        yield Statement("denied", f"The agent was not allowed to use: {names}.", (step.ref,))


def _corrections(step: RecordedStep) -> Iterator[Statement]:
    for number, each in enumerate(step.corrections, 1):
        text = (
            f"Its {ordinal(number)} reply did not have the required form and was sent back with "
            "these errors:"
        )
        refs = (step.ref, each.node["raw"], each.node["prompt"])
        yield Statement("correction", text, refs, "\n".join(each.errors))


def _delivered(step: RecordedStep) -> Iterator[Statement]:
    """The decision, the other fields and the text of the reply."""
    output = step.node["output"]
    who = "person" if step.is_answer else step.role
    if step.status == _SUSPEND:
        text = f"The {who} decided to ask a person ({quoted(_SUSPEND)})."
        yield Statement("decided", text, (output, step.ref))
        return
    text = f"The {who} decided {quoted(step.status)}."
    yield Statement("decided", text, (output, step.ref))
    for name, value in step.output.items():
        if name == "$status":
            continue
        shown = plain(value)
        if len(shown) > _LONG or "\n" in shown:
            yield Statement("field", f"{name}:", (output,), shown)
        else:
            yield Statement("field", f"{name}: {shown}", (output,))
    if step.node["body"] is not None:
        yield Statement("text", "It also wrote:", (step.node["body"],), step.body)


def _outcome(step: RecordedStep) -> str:
    return "asks a person" if step.status == _SUSPEND else str(step.status)


def _rule(step: RecordedStep) -> str:
    return f"graph.{step.role}.{step.status}"


def _route(step: RecordedStep) -> Iterator[Statement]:
    """Where the reply led, and by which rule."""
    to, workflow = step.node["next"], step.workflow
    refs = (step.ref, workflow.ref)
    if step.status == _SUSPEND:
        text = f"With this the {step.role} stopped the thread to ask a person:"
        yield Statement("route", text, (step.ref,), to["message"])
        return
    begin = (
        f"Because the reply says {quoted(step.status)} (field $status), the workflow "
        f"{quoted(workflow.name)}"
    )
    rule = f"(rule {_rule(step)})"
    if to["status"] == "completed":
        yield Statement("route", f"{begin} ends the thread {rule}.", refs)
    elif to["status"] == "suspended":
        yield Statement("route", f"{begin} asks a person {rule}:", refs, to["message"])
    else:
        yield Statement("route", f"{begin} passes the work on to the {to['role']} {rule}.", refs)


def _cost(step: RecordedStep) -> Statement:
    if step.is_answer:
        return Statement("cost", "A person's answer uses no model and costs nothing.", (step.ref,))
    tries = " (without failed attempts)" if step.node["previousAttempts"] else ""
    text = f"This step took {duration(step.duration_ms)}{tries}. {cost(step.node['usage'])}"
    return Statement("cost", text, (step.ref,))


def _prompt(step: RecordedStep, around: Surroundings) -> Iterator[Statement]:
    """The parts of the prompt with their origins."""
    if step.is_answer:
        return
    parts = split_prompt(step.prompt, around.task, step.edge_prompt)
    for number, part in enumerate(parts, 1):
        place = f"Part {number} of {len(parts)}: "
        yield _prompt_part(step, around, part, place)


def _prompt_part(
    step: RecordedStep, around: Surroundings, part: PromptPart, place: str
) -> Statement:
    prompt = step.node["prompt"]
    first, last = part.first, part.last
    if first is not None and last is not None and last <= len(around.earlier):
        several = f"the replies of the steps {first} to {last}, as they are recorded there."
        one = f"the reply of step {first}, as it is recorded there."
        ends = dict.fromkeys((around.earlier[first - 1], around.earlier[last - 1]))
        text = place + (one if first == last else several)
        return Statement("prompt", text, (*ends, prompt))
    refs = (*_origins(step, around, part.kind), prompt)
    meaning = MEANING[part.kind]
    if len(part.text) > _WORTH_A_REFERENCE:
        shown = around.shown.setdefault(part.text, step.number)
        if shown != step.number:
            text = f"{place}{meaning}; the same text as in the prompt of step {shown}."
            return Statement("prompt", text, refs)
    return Statement("prompt", f"{place}{meaning}:", refs, part.text)


def _origins(step: RecordedStep, around: Surroundings, kind: str) -> tuple[str, ...]:
    """The nodes from which a part of the prompt was made; none for what uwf itself wrote."""
    node = step.node
    origins: Mapping[str, tuple[str | None, ...]] = {
        FORM: (step.workflow.ref,),
        TASK: (around.task_ref,),
        REMINDER: (step.workflow.ref,),
        PROGRESS: (),
        HISTORY: (),
        REPLACED: (node["replaces"],),
        SAID: tuple(node["previousAttempts"]),
        INSTRUCTION: (node["edgePrompt"],),
        PERSON: (node["said"], node["answer"]),
        END: (step.workflow.ref,),
    }
    return tuple(filter(None, origins.get(kind, ())))
