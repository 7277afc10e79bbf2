"""Stage 5: the head and what a person asks for -> the task of the next step."""

import json
from typing import TYPE_CHECKING, Any, Literal

from uwf_core.engine.location import moved_folder, working_folder
from uwf_core.errors import RoutingFailed
from uwf_core.ids import Ref
from uwf_core.moderator.next import Transition, apply_edge, apply_start_edge
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.history import body_of, read_step, text_at
from uwf_core.thread.names import ALIAS_TAG, attempts_prefix

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store
    from uwf_core.engine.run import Run
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import AttemptPayload, PersonPayload


class Intent(NamedTuple):
    """What a person asks for: `go`, `resume` with a text or an answer, or `poke` with a text."""

    kind: Literal["go", "resume", "poke"] = "go"
    text: str | None = None
    answer: dict[str, Any] | None = None


GO_ON = Intent()


class Task(NamedTuple):
    """The step to run.

    Attributes:
        base: the edge prompt (or suspend message) without the text of a person.
        instruction: `base` with that text; the last part of the prompt.
        prev: the step before, None for the first.
        replaces: the step that this one replaces (poke).
        number: the step's number in its chain, from 1.
        agent: the recorded agent of the step or attempt that runs again, else None.
        alias: the alias that chose this agent, if known.
        said: the text of a person that `instruction` contains. by: that person.
        answer: a person's answer to the question of `agent`; no other agent may get it.
        last_failure: the kind of the failure of the last attempt at this step.
    """

    role: str
    base: str
    instruction: str
    cwd: str
    purpose: str
    prev: str | None
    replaces: str | None
    number: int
    agent: str | None = None
    alias: str | None = None
    said: str | None = None
    by: "PersonPayload | None" = None
    answer: dict[str, Any] | None = None
    last_failure: str | None = None


def moderate(run: "Run", intent: Intent = GO_ON) -> Task:
    """Stage 5: the next role, its instruction and its folder.

    Raises:
        RoutingFailed: no edge for the status, a prompt that renders blank, or a working folder that
            is missing or not allowed.
    """
    task, own = _task(run, intent), run.head.state.cwd
    if intent.kind != "go":
        task = task._replace(by=run.engine.person())
    folder = task.cwd if run.cwd is None else moved_folder(task.cwd, own, run.cwd)
    allowed = run.engine.settings.allowed_folders
    return task._replace(cwd=working_folder(folder, run.folder, allowed))


def _task(run: "Run", intent: Intent) -> Task:
    store, head = run.engine.store, run.head
    state, suspension = head.state, head.state.suspension
    if intent.kind == "poke":
        return _task_of_poke(store, head, intent.text or "")
    if intent.kind == "resume" and state.status == "completed":
        return _task_of_edge(run, apply_start_edge(run.definition, "resume"), intent, "resume")
    newest = _last_attempt(store, head)
    asked = suspension is not None and suspension.reason == "role"
    if suspension is not None and asked and (newest is None or suspension.question is None):
        return _task_after_suspension(store, head, intent)
    if newest is not None:
        return _task_again(run, newest, intent)
    return _task_of_edge(run, _transition(run), intent, "resume" if intent.text else "run")


def _transition(run: "Run") -> Transition:
    """Where the head leads."""
    if run.head.at_start:
        return apply_start_edge(run.definition, "new")
    store = run.engine.store
    step = read_step(store, run.head.ref)
    output = store.get(Ref(step.payload["output"])).payload
    return apply_edge(run.definition, step.payload["role"], output, body_of(store, step))


def _task_of_edge(run: "Run", to: Transition, intent: Intent, purpose: str) -> Task:
    """The task that follows the head."""
    if to.status != "idle" or to.role is None:
        raise RoutingFailed(
            "the last step leads to no role", hint=f"next: uwf thread show {run.head.thread}"
        )
    return Task(
        role=to.role,
        base=to.prompt,
        instruction=with_text(to.prompt, intent.text),
        said=intent.text,
        cwd=_folder_of_edge(run.head.state.cwd, to.location),
        purpose=purpose,
        prev=_prev(run.head),
        replaces=None,
        number=run.head.state.steps + 1,
    )


def _folder_of_edge(cwd: str, location: str | None) -> str:
    """`location` as seen from the thread's folder, which it is without one."""
    if not location:
        return cwd
    from pathlib import Path  # not for every step

    return str(Path(cwd, location))


def _task_after_suspension(store: "Store", head: "Head", intent: Intent) -> Task:
    """The suspended role runs again in the folder of its last step, with the reason for which it
    waited and the answer of the person.
    """
    suspension = head.state.suspension
    assert suspension is not None
    step = None if head.at_start else read_step(store, head.ref)
    is_own = step is not None and step.payload["role"] == suspension.role
    return Task(
        role=suspension.role,
        base=suspension.message,
        instruction=_asked_and_answered(suspension.message, intent),
        said=intent.text,
        agent=step.payload["agent"] if step is not None and intent.answer is not None else None,
        answer=intent.answer,
        cwd=step.payload["cwd"] if step is not None and is_own else head.state.cwd,
        purpose="resume",
        prev=_prev(head),
        replaces=None,
        number=head.state.steps + 1,
    )


def _task_again(run: "Run", variable: "Variable", intent: Intent) -> Task:
    """The task of an attempt that ended without a step, once more.

    With a text, the edge prompt and that text are the instruction, not the text of the error.
    """
    store, answer = run.engine.store, intent.answer
    attempt: AttemptPayload = store.get(Ref(variable.value)).payload
    base = store.text(Ref(attempt["edgePrompt"]))
    instruction, said = _words_again(store, attempt, base, intent)
    given = text_at(store, attempt["answer"])
    if given is not None and attempt["question"] is None and run.options.agent is None:
        answer = json.loads(given)  # the attempt with this answer failed, so it is not used yet
    return Task(
        role=attempt["role"],
        base=base,
        instruction=instruction,
        cwd=attempt["cwd"],
        purpose=intent.kind if intent.kind != "go" else attempt["purpose"],
        prev=attempt["prev"],
        replaces=attempt["replaces"],
        number=attempt["number"],
        agent=attempt["agent"] if attempt["replaces"] or answer is not None else None,
        alias=variable.tags.get(ALIAS_TAG),
        said=said,
        by=attempt["by"],
        answer=answer,
        last_failure=_last_failure(store, attempt),
    )


def _words_again(
    store: "Store", attempt: "AttemptPayload", base: str, intent: Intent
) -> tuple[str, str | None]:
    """The instruction of a repeated attempt, and the text of a person in it."""
    instruction, said = store.text(Ref(attempt["instruction"])), text_at(store, attempt["said"])
    question = _question_of(store, attempt) if intent.answer is not None else instruction
    if question != instruction:  # a person who plays the role is asked with the instruction itself
        said = "\n\n".join(filter(None, (said, intent.text))) or None
        return with_text(instruction, _asked_and_answered(question, intent)), said
    if intent.kind == "resume" and intent.text:
        return with_text(base, intent.text), intent.text
    return instruction, said


def _task_of_poke(store: "Store", head: "Head", text: str) -> Task:
    """The head step once more with a further instruction; the new step replaces it."""
    step = read_step(store, head.ref).payload
    base = store.text(Ref(step["edgePrompt"]))
    return Task(
        role=step["role"],
        base=base,
        instruction=with_text(base, f"A person asks you to redo your last reply:\n\n{text}"),
        said=text,
        cwd=step["cwd"],
        purpose="poke",
        prev=step["prev"],
        replaces=head.ref,
        number=step["number"],
        agent=step["agent"],
    )


def _last_attempt(store: "Store", head: "Head") -> "Variable | None":
    """The newest attempt at the pending step that ended without one, or None."""
    if head.state.tries == 0:
        return None
    variables = store.variables(attempts_prefix(head.thread))
    if not variables:
        return None
    return max(variables, key=lambda variable: _order(variable.name))


def _last_failure(store: "Store", attempt: "AttemptPayload") -> str | None:
    if attempt["step"] is None:
        return None
    return read_step(store, Ref(attempt["step"])).payload["failure"]


def _question_of(store: "Store", attempt: "AttemptPayload") -> str:
    assert attempt["question"] is not None
    return store.text(Ref(store.get(Ref(attempt["question"])).payload["message"]))


def _asked_and_answered(question: str, intent: Intent) -> str:
    """The question of a role, and what the person answered: JSON, a text, both or nothing."""
    given = [] if intent.answer is None else [json.dumps(intent.answer, ensure_ascii=False)]
    given += [intent.text] if intent.text else []
    said = "A person answered:" if given else "A person let you continue without an answer."
    return "\n\n".join(("You asked:", question, said, *given))


def _prev(head: "Head") -> str | None:
    return None if head.at_start else head.ref


def _order(name: str) -> tuple[int, int]:
    number, attempt = name.rpartition("/")[2].split(".")
    return int(number), int(attempt)


def with_text(base: str, text: str | None) -> str:
    """A prompt, a blank line, and the text of a person."""
    if not text:
        return base
    return f"{base}\n\n{text}" if base else text
