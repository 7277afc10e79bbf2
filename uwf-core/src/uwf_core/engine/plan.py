"""Stage 5: the head and what a person asks for -> the task of the next step."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from uwf_core.engine.context import GO_ON, Intent, Task
from uwf_core.engine.location import folder_in_run, folder_of_edge
from uwf_core.errors import RoutingFailed
from uwf_core.ids import Ref
from uwf_core.moderator.next import Transition, apply_edge, apply_start_edge
from uwf_core.prompt.step_text import step_markdown
from uwf_core.thread.decisions import failure_kind
from uwf_core.thread.history import (
    Saying,
    Step,
    body_of,
    failed_steps,
    newest_first,
    output_of,
    read_step,
    root_task,
    sayings,
    text_at,
    typed_input,
)
from uwf_core.thread.names import ALIAS_TAG, attempts_prefix

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.thread.decisions import Suspension
    from uwf_core.thread.earlier import Delivered, EarlierSteps
    from uwf_core.thread.head import Head
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import AttemptPayload
    from uwf_core.workflow.definition import Definition


class Position(Protocol):
    """What the next task of a thread depends on: the head of a live thread, or
    a place in a recorded one.

    Attributes:
        definition: the workflow. state: that of the thread.
        prev: the newest step; None at the start.
        given: the typed input; None if the workflow has none.
    """

    definition: "Definition"
    state: "ThreadState"
    prev: str | None
    given: Any
    store: "Store"

    def transition(self) -> Transition:
        """Where the newest step, the start, or a question that has expired leads."""
        expired = self.state.expired
        if expired is not None:
            return Transition("idle", expired.role, expired.prompt)
        if self.prev is None:
            return apply_start_edge(self.definition, "new", self.given, self.steps())
        if not self.state.is_entered:
            return self.route()
        to = apply_start_edge(self.definition, "resume", self.given, self.steps())
        return to._replace(prompt=with_text(to.prompt, self.called_with()))

    def steps(
        self,
        definition: "Definition | None" = None,
        *,
        before: int | None = None,
        delivered: "Delivered | None" = None,
    ) -> "EarlierSteps | None":
        """The newest output of each role, before a step and with what it delivered; None if no
        template of the workflow names one.
        """
        of = definition or self.definition
        if not of.steps:
            return None
        from uwf_core.thread.earlier import earlier_steps  # not for every workflow

        return earlier_steps(self.store, of, self.state, before=before, delivered=delivered)

    def call(self) -> tuple[str, str] | None:
        """The calling thread and the task of the root; None for a root."""
        caller = self.state.caller
        return caller and (caller.thread, root_task(self.store, self.state.start))

    def step(self, ref: str) -> Step:
        """A step of the thread."""
        return read_step(self.store, Ref(ref))

    def sayings(self, step: Step) -> list[Saying]:
        """What persons said for a step."""
        return sayings(self.store, step)

    def markdown(self, step: Step) -> str:
        """A step as the history of a prompt shows it."""
        return markdown_of(self.store, step, self.sayings(step))

    def last(self) -> Task:
        """The task of the newest step; there is one."""

    def route(self) -> Transition:
        """Where the newest step leads; there is one."""

    def called_with(self) -> str:
        """The instruction of the newest call; there is one."""

    def pending(self) -> Task | None:
        """The task of the newest attempt at the next step that ended without one."""

    def task_text(self) -> str:
        """The task of the whole thread."""

    def steps_before(self, task: Task) -> Iterable[Step]:
        """The steps before that of the task, newest first."""

    def summary(self, task: Task) -> tuple[int, str] | None:
        """What `thread compact` stored in place of steps before the task: the number of the last
        of them, and the text.
        """

    def tries(self) -> Iterable[Step]:
        """The failed attempts at the next step, oldest first."""


class HeadPosition(Position):
    """The position of a run at the head of its thread."""

    def __init__(self, run: "Run", head: "Head") -> None:
        self._run = run
        self.store = run.engine.store
        self._head = head
        self._takes_answer = run.options.agent is None
        self.definition = run.definition
        self.state = head.state
        self.prev = None if head.at_start else str(head.ref)
        self.given = typed_input(self.store, self.definition, self.state)

    def last(self) -> Task:
        """The task of the head step; its instruction is not needed again."""
        return recorded_task(self.store, read_step(self.store, self._head.ref).payload)

    def route(self) -> Transition:
        """Where the head step leads."""
        step = read_step(self.store, self._head.ref)
        role, output = step.payload["role"], output_of(self.store, step)
        body, steps = body_of(self.store, step), self.steps()
        return apply_edge(self.definition, role, output, body, self.given, steps)

    def called_with(self) -> str:
        """The instruction of the newest call."""
        assert self.state.caller is not None
        return self.store.text(self.store.payload(self.state.caller.event)["prompt"])

    def pending(self) -> Task | None:
        """The task of the newest attempt at the pending step, read from its record."""
        variable = last_attempt(self.store, self._head)
        if variable is None:
            return None
        store, attempt = self.store, self.store.get(Ref(variable.value)).payload
        if self.state.expired is not None and attempt["seq"] < self.state.expired.seq:
            return None
        question, asked = attempt["question"], attempt["attempt"]
        given = text_at(store, asked["answer"])
        return recorded_task(store, attempt)._replace(
            instruction=store.text(Ref(asked["instruction"])),
            alias=variable.tags.get(ALIAS_TAG),
            said=text_at(store, asked["said"]),
            by=asked["by"],
            answer=json.loads(given) if given is not None and self._takes_answer else None,
            last_failure=_last_failure(store, attempt),
            question=None if question is None else question_text(store, question),
        )

    def task_text(self) -> str:
        """The task of the whole thread."""
        return self.store.text(Ref(self._run.engine.start(self.state.start)["prompt"]))

    def call(self) -> tuple[str, str] | None:
        """The calling thread and the task of the root."""
        return super().call() or self._run.options.call

    def steps_before(self, task: Task) -> Iterable[Step]:
        """The steps before that of the task, read as they are used."""
        return () if task.prev is None else newest_first(self.store, Ref(task.prev), Ref(""))

    def summary(self, task: Task) -> tuple[int, str] | None:
        """What was stored in place of steps before the task."""
        if self.state.compacted is None:
            return None
        from uwf_core.thread.summaries import compactions, summary_text  # not for every step

        events = compactions(self.store, self.state.compacted)
        return summary_text(self.store, events, task.prev)

    def tries(self) -> Iterable[Step]:
        """The failed attempts at the pending step."""
        return (read_step(self.store, ref) for ref in failed_steps(self.store, self._head.state))


def steps_after(run: "Run", attempt: "Attempt", output: Any) -> "EarlierSteps | None":
    """The newest output of each role after that of an attempt; None as `Position.steps`."""
    if not run.definition.steps:
        return None
    from uwf_core.thread.earlier import earlier_steps  # not for every workflow

    store, state, task = run.engine.store, attempt.head.state, attempt.payload
    delivered = task["role"], output, attempt.body
    return earlier_steps(store, run.definition, state, before=task["number"], delivered=delivered)


def recorded_task(store: "Store", node: "Mapping[str, Any]") -> Task:
    """The task of a step or an attempt, without what a person said."""
    asked = node["attempt"]
    base = store.text(Ref(asked["edgePrompt"]))
    return Task(
        role=node["role"],
        base=base,
        instruction=base,
        cwd=asked["cwd"],
        purpose=asked["purpose"],
        prev=node["prev"],
        replaces=asked["replaces"],
        number=node["number"],
        agent=node["agent"],
    )


def markdown_of(store: "Store", step: Step, said: Iterable[Saying]) -> str:
    """A step as the history of a prompt shows it."""
    payload = step.payload
    output = store.payload(Ref(payload["output"]))
    return step_markdown(payload["number"], payload["role"], output, body_of(store, step), said)


def moderate(run: "Run", intent: Intent = GO_ON) -> Task:
    """Stage 5: the next role, its instruction and its folder.

    Raises:
        RoutingFailed: no edge for the status, a prompt that renders blank, or a working folder that
            is missing or not allowed.
    """
    task = next_task(HeadPosition(run, run.head), intent)
    if intent.kind != "go":
        task = task._replace(by=run.engine.person())
    return task._replace(cwd=folder_in_run(run, task.cwd))


def next_task(position: Position, intent: Intent) -> Task:
    """The task that follows from a position and what a person asks for, before its folder is
    checked.

    Raises:
        RoutingFailed: the graph leads nowhere.
    """
    suspension = position.state.suspension
    if intent.kind == "poke":
        return _task_of_poke(position, intent.text or "")
    if intent.kind == "resume" and position.state.status == "completed":
        to = apply_start_edge(position.definition, "resume", position.given, position.steps())
        return _task_of_edge(position, to, intent, "resume")
    pending = position.pending()
    asked = suspension is not None and suspension.reason == "role"
    if suspension is not None and asked and (pending is None or suspension.question is None):
        return _task_after_suspension(position, suspension, intent)
    if pending is not None:
        return _task_again(pending, intent)
    purpose = "resume" if intent.text else "run"
    return _task_of_edge(position, position.transition(), intent, purpose)


def _task_of_edge(position: Position, to: Transition, intent: Intent, purpose: str) -> Task:
    """The task that follows the newest step."""
    state = position.state
    if to.status != "idle" or to.role is None:
        raise RoutingFailed(
            "the last step leads to no role", hint=f"next: uwf thread show {state.thread}"
        )
    return Task(
        role=to.role,
        base=to.prompt,
        instruction=with_text(to.prompt, intent.text),
        said=intent.text,
        cwd=folder_of_edge(state.cwd, to.location),
        purpose=purpose,
        prev=position.prev,
        number=state.steps + 1,
    )


def _task_after_suspension(position: Position, suspension: "Suspension", intent: Intent) -> Task:
    """The suspended role runs again in the folder of its last step, with the reason for which it
    waited and the answer of the person.
    """
    state = position.state
    last = None if position.prev is None else position.last()
    return Task(
        role=suspension.role,
        base=suspension.message,
        instruction=_asked_and_answered(suspension.message, intent),
        said=intent.text,
        agent=last.agent if last is not None and intent.answer is not None else None,
        answer=intent.answer,
        cwd=last.cwd if last is not None and last.role == suspension.role else state.cwd,
        purpose="resume",
        prev=position.prev,
        number=state.steps + 1,
    )


def _task_again(task: Task, intent: Intent) -> Task:
    """The task of an attempt that ended without a step, once more.

    With a text, the edge prompt and that text are the instruction, not the text of the error.
    """
    answer = intent.answer
    instruction, said = _words_again(task, intent)
    if task.question is None and task.answer is not None:
        answer = task.answer  # the attempt with this answer failed, so it is not used yet
    return task._replace(
        instruction=instruction,
        purpose=intent.kind if intent.kind != "go" else task.purpose,
        agent=task.agent if task.replaces or answer is not None else None,
        said=said,
        answer=answer,
        question=None,
    )


def _words_again(task: Task, intent: Intent) -> tuple[str, str | None]:
    """The instruction of a repeated attempt, and the text of a person in it."""
    instruction, said = task.instruction, task.said
    question = (task.question or "") if intent.answer is not None else instruction
    if question != instruction:  # a person who plays the role is asked with the instruction itself
        said = "\n\n".join(filter(None, (said, intent.text))) or None
        return with_text(instruction, _asked_and_answered(question, intent)), said
    if intent.kind == "resume" and intent.text:
        return with_text(task.base, intent.text), intent.text
    return instruction, said


def _task_of_poke(position: Position, text: str) -> Task:
    """The newest step once more with a further instruction; the new step replaces it."""
    last = position.last()
    asked = f"A person asks you to redo your last reply:\n\n{text}"
    return last._replace(
        instruction=with_text(last.base, asked),
        purpose="poke",
        replaces=position.prev,
        alias=None,
        said=text,
        by=None,
        answer=None,
        last_failure=None,
    )


def last_attempt(store: "Store", head: "Head") -> "Variable | None":
    """The newest attempt at the pending step that ended without one, or None."""
    if head.state.tries == 0:
        return None
    variables = store.variables(attempts_prefix(head.thread))
    if not variables:
        return None
    return max(variables, key=lambda variable: [*map(int, variable.name.split("/")[-1].split("."))])


def _last_failure(store: "Store", attempt: "AttemptPayload") -> str | None:
    if attempt["step"] is None:
        return None
    return failure_kind(read_step(store, Ref(attempt["step"])).payload)


def question_text(store: "Store", question: str) -> str:
    """The text of a stored question."""
    return store.text(Ref(store.get(Ref(question)).payload["message"]))


def _asked_and_answered(question: str, intent: Intent) -> str:
    """The question of a role, and what the person answered: JSON, a text, both or nothing."""
    given = [] if intent.answer is None else [json.dumps(intent.answer, ensure_ascii=False)]
    given += [intent.text] if intent.text else []
    said = "A person answered:" if given else "A person let you continue without an answer."
    return "\n\n".join(("You asked:", question, said, *given))


def with_text(base: str, text: str | None) -> str:
    """A prompt, a blank line, and the text of a person."""
    return "\n\n".join(filter(None, (base, text)))
