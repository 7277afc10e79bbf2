"""The section of a step: what the role was asked, what it delivered, and where that led."""

from collections.abc import Iterator, Mapping

from uwf_core.api import RecordedStep
from uwf_core.thread.calls import CALL_AGENT
from uwf_core.thread.decisions import call_of, session_of
from uwf_core.workflow.definition import PROGRAM
from uwf_explain.explanation.branches import (
    asked_branches,
    branch_statements,
    is_fan_out,
    joint_decision,
    rule_of,
)
from uwf_explain.explanation.calls import first_call, history, reopened
from uwf_explain.explanation.events import event_statement
from uwf_explain.explanation.guidance import guidance_statements
from uwf_explain.explanation.prompts import prompt_statements
from uwf_explain.explanation.statements import Statement, WhySection
from uwf_explain.explanation.surroundings import Surroundings
from uwf_explain.explanation.words import (
    cost,
    duration,
    moment,
    on,
    ordinal,
    person,
    plain,
    program,
    quoted,
    used,
)

_START, _SUSPEND = "$START", "$SUSPEND"
_LONG = 120
"""A field with more characters, or several lines, is quoted."""
_BEGINNING = 600
"""How many characters of a rejected reply are shown."""

_SESSIONS: Mapping[str, str] = {
    "new": "It began a new session, so it knew only what the prompt says.",
    "continued": "It continued its earlier session, so it remembered its earlier work.",
    "forked": "It worked in a copy of its earlier session, so it remembered its earlier work.",
    "restarted": "Its earlier session was lost, so it began a new one and got the whole history.",
}


_CALLS: Mapping[str, str] = {
    "new": "The work was done by another run, which began for this step.",
    "continued": "The work was done by another run, which this role had called before.",
    "forked": "The work was done by a copy of a run, which this role had called before.",
}


def step_section(step: RecordedStep, around: Surroundings) -> WhySection:
    """The section of a step."""
    statements = (
        _of_branches(step, around)
        if is_fan_out(step.role)
        else [
            *_asked(step, around),
            _instruction(step, around),
            *history(step, around),
            _worker(step, around.cwd),
            *guidance_statements(step, around),
            *_called(step),
            *_denied(step),
            *_notices(step),
            *_corrections(step),
            *_delivered(step),
            _route(step),
            _cost(step),
        ]
    )
    replaced = [each.ref for each in step.replaced]
    return WhySection(
        title=f"Step {step.number}: {_decision(step)}",
        statements=tuple(statements),
        prompt=tuple(prompt_statements(step, around)),
        step=step.ref,
        number=step.number,
        role=step.role,
        status=step.status,
        nodes=(step.ref, *replaced, *step.node["previousAttempts"]),
        prompt_title=_prompt_title(step, around),
    )


def _of_branches(step: RecordedStep, around: Surroundings) -> list[Statement]:
    """The statements about a fan-out: each branch has its instruction."""
    asked = list(_asked(step, around))
    if not _was_asked(step, around):
        asked = [asked_branches(step, around)]
    return [
        *asked,
        *history(step, around),
        *branch_statements(step),
        joint_decision(step),
        _route(step),
        _cost(step),
    ]


def _decision(step: RecordedStep) -> str:
    if is_fan_out(step.role):
        return f"the branches of {step.role} ended with {quoted(step.status)}"
    if step.is_answer:
        return f"a person decided {quoted(step.status)} as the {step.role}"
    if step.status == _SUSPEND:
        return f"the {step.role} asked a person"
    return f"the {step.role} decided {quoted(step.status)}"


def _prompt_title(step: RecordedStep, around: Surroundings) -> str:
    """Whose prompt it is: each attempt at a step gets one, and the last one is shown."""
    is_last = step.node["previousAttempts"] or step.replaced
    asked = any(each.kind == "asked" for each in around.events)
    which = "the last attempt at " if is_last or asked else ""
    return f"The exact prompt of {which}step {step.number} ({step.role})"


def _asked(step: RecordedStep, around: Surroundings) -> Iterator[Statement]:
    """Why this role was next."""
    previous, workflow = around.previous, step.workflow
    role = quoted(step.role)
    if previous is None:
        text = f"The workflow {quoted(workflow.name)} begins with the role {role}."
        yield Statement("asked", text, (workflow.ref,), note=f"rule graph.{_START}.new")
    elif around.is_reopened:
        calls = [event_statement(each) for each in around.events if each.kind == "called"]
        yield from calls or [reopened(first_call(step, around))]
        text = f"So the workflow continued with the role {role}."
        note = f"rule graph.{_START}.resume"
        yield Statement("asked", text, (workflow.ref, step.ref), note=note)
    elif _was_asked(step, around):
        first, again = first_call(step, around), f"the role {role} worked again."
        asked = f"Step {previous.number} ({previous.role}) had stopped to ask a person."
        if first.said is None and first.node["attempt"]["answer"] is None:
            who = on(first.node["startedAtMs"], first.node["attempt"]["by"])
            nothing = f"{who} let the run continue without an answer."
            text = f"{asked} {nothing} Then {again}"
            yield Statement("unanswered", text, (previous.ref, first.ref), brief=nothing)
        else:
            text = f"{asked} After the reply of the person, {again}"
            yield Statement("asked", text, (previous.ref,))
    else:
        text = (
            f"The role {role} was next because step {previous.number} ({previous.role}) ended "
            f"with {quoted(previous.status)}."
        )
        note = rule_of(previous)
        yield Statement("asked", text, (previous.ref, workflow.ref), note=note)


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
    return Statement("instruction", text, (step.node["attempt"]["edgePrompt"],), step.edge_prompt)


def _worker(step: RecordedStep, cwd: str) -> Statement:
    node, asked = step.node, step.node["attempt"]
    where = "" if asked["cwd"] == cwd else f" It worked in the folder {asked['cwd']}."
    if step.is_answer:
        who = person(asked["by"])
        text = f"The result of this step was given by {who}; no model was used."
        brief = f"On {moment(node['completedAtMs'])} the result was given by {who}."
        return Statement("worker", text + where, (step.ref,), brief=brief)
    if node["agent"] is None:
        text = f"The {step.role} delivered nothing, so uwf made this step."
        return Statement("worker", text, (step.ref,), brief=text)
    if node["agent"] == CALL_AGENT:
        return Statement(
            "worker", f"{_CALLS[session_of(node)['continuation']]}{where}", (step.ref,)
        )
    if node["agent"] == PROGRAM:
        text = f"The work was done by a program, without a model.{where} The command was:"
        return Statement("worker", text, (asked["prompt"], step.ref), step.prompt)
    model = f"with the model {quoted(node['model'])}."
    if node["model"] is None:
        model = "which model it used was not recorded."
    done = f"The work was done by {program(node['agent'])}{';' if node['model'] is None else ''}"
    text = f"{done} {model} {_SESSIONS[session_of(node)['continuation']]}{where}"
    return Statement("worker", text, (step.ref,))


def _called(step: RecordedStep) -> Iterator[Statement]:
    """The run that the step called, and what it came back with."""
    node = step.node
    call = call_of(node)
    if call["child"] is not None and call["usage"] is not None:
        count = call["usage"]["steps"]
        took = f"{count} step{'' if count == 1 else 's'}"
        text = (
            f"The run {step.child} took {took} and ended. Its last decision was "
            f"{quoted(step.status)}, which is the result of this step. To read why it went as it "
            "did:"
        )
        command = f"uwf thread why {step.child}"
        yield Statement("called", text, (call["child"], step.ref), command=command)


def _denied(step: RecordedStep) -> Iterator[Statement]:
    if step.node["denials"]:
        names = ", ".join(step.node["denials"])
        yield Statement("denied", f"The program was not allowed to use: {names}.", (step.ref,))


def _notices(step: RecordedStep) -> Iterator[Statement]:
    for each in step.node["notices"] or ():
        text = "Something else has to be known about this step:"
        yield Statement("notice", text, (step.ref,), each, brief=text)


def _corrections(step: RecordedStep) -> Iterator[Statement]:
    for number, each in enumerate(step.corrections, 1):
        refs = (each.node["raw"], step.ref)
        text = (
            f"Its {ordinal(number)} reply did not have the form that the workflow asks for, and "
            "was sent back. Its cost is included in the cost of this step. The rejected reply"
        )
        ends = "begins with" if len(each.raw) > _BEGINNING else "was"
        brief = f"A reply of the {step.role} was sent back, because its form was wrong."
        text = f"{text} {ends}:"
        yield Statement("rejected", text, refs, each.raw[:_BEGINNING], brief=brief)
        text = "This was wrong with the form of that reply:"
        proof = (step.ref, each.node["raw"], each.node["prompt"])
        yield Statement("correction", text, proof, "\n".join(each.errors))


def _delivered(step: RecordedStep) -> Iterator[Statement]:
    """The decision, the other fields and the text of the reply."""
    output = str(step.node["output"])
    who = "person" if step.is_answer else step.role
    if step.status == _SUSPEND:
        text = f"The {who} decided to ask a person ({quoted(_SUSPEND)})."
        yield Statement("decided", text, (output, step.ref))
        return
    text = f"The {who} decided {quoted(step.status)}."
    if step.node["agent"] is None:
        text = f"The {who} failed, and the workflow decides what follows ({quoted(step.status)})."
    yield Statement("decided", text, (output, step.ref))
    for name, value in step.output.items():
        if name != "$status":
            yield _field(name, plain(value), output)
    for file in step.files:
        shown = f"It delivered the file {quoted(file.path)} ({file.size:,} bytes)."
        yield Statement("file", shown, (file.ref, step.ref))
    if step.node["body"] is not None:
        yield Statement("text", "Its text:", (step.node["body"],), step.body)
    elif not step.is_answer and step.node["agent"] not in (CALL_AGENT, PROGRAM, None):
        yield Statement("wordless", "It wrote no text besides.", (step.ref,))


def _field(name: str, shown: str, output: str) -> Statement:
    if len(shown) > _LONG or "\n" in shown:
        return Statement("field", f"{name}:", (output,), shown)
    return Statement("field", f"{name}: {shown}", (output,))


def _route(step: RecordedStep) -> Statement:
    """Where the reply led, and by which rule."""
    to, workflow = step.node["next"], step.workflow
    refs = (step.ref, workflow.ref)
    asked = f"After the reply of the {step.role}, a person was asked:"
    if step.status == _SUSPEND:
        text = f"With this the {step.role} stopped the run to ask a person, and waited:"
        return Statement("route", text, (step.ref,), to["message"], brief=asked)
    begin = f"Because the decision was {quoted(step.status)}, the workflow {quoted(workflow.name)}"
    note = f"field $status, {rule_of(step)}"
    if to["status"] == "completed":
        return Statement("route", f"{begin} ends the run.", refs, note=note)
    if to["status"] == "suspended":
        text = f"{begin} asks a person, and waits:"
        return Statement("route", text, refs, to["message"], note=note, brief=asked)
    if is_fan_out(str(to["role"])):
        return Statement("route", f"{begin} begins the branches {to['role']}.", refs, note=note)
    return Statement("route", f"{begin} passes the work on to the {to['role']}.", refs, note=note)


def _cost(step: RecordedStep) -> Statement:
    node = step.node
    if step.is_answer:
        text = (
            f"The answer was given on {moment(node['completedAtMs'])}. A person's answer uses no "
            "model and costs nothing."
        )
        return Statement("cost", text, (step.ref,))
    which = "The last attempt at this step" if node["previousAttempts"] else "This step"
    text = (
        f"{which} began on {moment(node['startedAtMs'])} and took {duration(step.duration_ms)}. "
        f"{cost(used(node))}"
    )
    return Statement("cost", text, (step.ref,))
