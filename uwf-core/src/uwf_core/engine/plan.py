"""Stage 5 in a thread: what is to be run now, from the head and what was asked for."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from uwf_core.engine.location import moved_folder, working_folder
from uwf_core.errors import FailureKind, RoutingFailed
from uwf_core.ids import Ref
from uwf_core.moderator.next import End, Route, Suspend, first
from uwf_core.moderator.next import moderate as next_after
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.chain import body_of, failure_of, read_step
from uwf_core.thread.head import Head
from uwf_core.thread.names import ALIAS_TAG, attempt_name
from uwf_core.thread.types import AttemptPayload

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store
    from uwf_core.workflow.definition import Definition

Decision = Route | End | Suspend


class Intent(NamedTuple):
    """What was asked for: to `go` on, to `resume` with a text or an answer, or to `poke`."""

    kind: Literal["go", "resume", "poke"] = "go"
    text: str | None = None
    answer: dict[str, Any] | None = None


GO_ON = Intent()


class Task(NamedTuple):
    """One step to be run.

    Attributes:
        base: the edge prompt (or suspend message) without what a person added.
        instruction: `base` with what a person added: what the agent is told last.
        prev: the step before, None where this is the first.
        replaces: the step that this one takes the place of (poke).
        number: the step's number in its chain, from 1.
        agent: the agent of the step or attempt that is run again (as recorded), else None.
        alias: the alias that this agent was chosen by, where it is known.
        answer: a person's answer to the question of `agent`, which alone may get it.
        is_repeat: an earlier attempt at this step was interrupted.
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
    answer: dict[str, Any] | None = None
    is_repeat: bool = False


def moderate(
    store: "Store",
    definition: "Definition",
    head: Head,
    intent: Intent = GO_ON,
    allowed: Sequence[str] = (),
    cwd: str | None = None,
) -> Task:
    """Who is next, with which instruction, and where.

    Args:
        cwd: the folder that replaces the thread's, None for that itself.
        allowed: `allowedFolders` of the configuration.

    Raises:
        RoutingFailed: no edge for the status, a prompt that renders blank, or a working folder that
            is missing or not allowed.
    """
    task = _task(store, definition, head, intent)
    own = head.state.cwd if cwd is None else cwd
    folder = task.cwd if cwd is None else moved_folder(task.cwd, head.state.cwd, cwd)
    return task._replace(cwd=working_folder(folder, own, allowed))


def _task(store: "Store", definition: "Definition", head: Head, intent: Intent) -> Task:
    state, text = head.state, intent.text
    if intent.kind == "poke":
        return task_of_poke(store, head, text or "")
    if intent.kind == "resume" and state.status == "completed":
        return task_of_route(head, first(definition, "resume"), text, "resume")
    suspension, newest = state.suspension, last_attempt(store, head)
    asked = suspension is not None and suspension.reason == "role"
    if suspension is not None and asked and (newest is None or suspension.question is None):
        return task_after_suspension(store, head, intent)
    if newest is None:
        return _task_of_edge(store, definition, head, intent)
    return task_again(store, newest, intent)


def _was_interrupted(store: "Store", attempt: AttemptPayload) -> bool:
    if attempt["step"] is None:
        return False
    failure = failure_of(store, read_step(store, Ref(attempt["step"])))
    return failure is not None and failure["kind"] == FailureKind.INTERRUPTED.word


def _task_of_edge(store: "Store", definition: "Definition", head: Head, intent: Intent) -> Task:
    decision = where_next(store, definition, head)
    if not isinstance(decision, Route):
        raise RoutingFailed("the last step leads to no role", hint="`uwf thread show` says where")
    return task_of_route(head, decision, intent.text, "resume" if intent.text else "run")


def where_next(store: "Store", definition: "Definition", head: Head) -> Decision:
    """Where the head leads; errors as in `moderate`."""
    if head.at_start:
        return first(definition, "new")
    step = read_step(store, head.ref)
    output = store.get(Ref(step.payload["output"])).payload
    return next_after(definition, step.payload["role"], output, body_of(store, step))


def task_of_route(head: Head, route: Route, text: str | None, purpose: str = "run") -> Task:
    """The task that follows the head by an edge."""
    return Task(
        role=route.role,
        base=route.prompt,
        instruction=with_text(route.prompt, text),
        cwd=str(Path(head.state.cwd, route.location or "")),
        purpose=purpose,
        prev=None if head.at_start else head.ref,
        replaces=None,
        number=head.state.steps + 1,
    )


def task_after_suspension(store: "Store", head: Head, intent: Intent) -> Task:
    """The suspended role speaks again, in the folder of its last step, told why it waited.

    An answer to the form that it gave is part of the instruction.
    """
    text = intent.text
    if intent.answer is not None:
        said = json.dumps(intent.answer, ensure_ascii=False)
        text = with_text(f"The answer: {said}", text)
    suspension = head.state.suspension
    assert suspension is not None
    step = None if head.at_start else read_step(store, head.ref)
    is_own = step is not None and step.payload["role"] == suspension.role
    return Task(
        role=suspension.role,
        base=suspension.message,
        instruction=with_text(suspension.message, text),
        agent=step.payload["agent"] if step is not None and intent.answer is not None else None,
        answer=intent.answer,
        cwd=step.payload["cwd"] if step is not None and is_own else head.state.cwd,
        purpose="resume",
        prev=None if head.at_start else head.ref,
        replaces=None,
        number=head.state.steps + 1,
    )


def task_again(store: "Store", variable: "Variable", intent: Intent) -> Task:
    """The task of an attempt that ended without a step, once more.

    With a text the edge prompt and that text are the instruction, never the error's text.
    """
    attempt: AttemptPayload = store.get(Ref(variable.value)).payload
    base = store.text(Ref(attempt["edgePrompt"]))
    is_new = intent.kind == "resume" and bool(intent.text)
    said = store.text(Ref(attempt["instruction"]))
    instruction = with_text(base, intent.text) if is_new else said
    return Task(
        role=attempt["role"],
        base=base,
        instruction=instruction,
        cwd=attempt["cwd"],
        purpose=intent.kind if intent.kind != "go" else attempt["purpose"],
        prev=attempt["prev"],
        replaces=attempt["replaces"],
        number=attempt["number"],
        agent=attempt["agent"] if attempt["replaces"] or intent.answer is not None else None,
        alias=variable.tags.get(ALIAS_TAG),
        answer=intent.answer,
        is_repeat=_was_interrupted(store, attempt),
    )


def task_of_poke(store: "Store", head: Head, text: str) -> Task:
    """The head step once more, with a further instruction; it replaces the head."""
    step = read_step(store, head.ref).payload
    base = store.text(Ref(step["edgePrompt"]))
    return Task(
        role=step["role"],
        base=base,
        instruction=with_text(base, text),
        cwd=step["cwd"],
        purpose="poke",
        prev=step["prev"],
        replaces=head.ref,
        number=step["number"],
        agent=step["agent"],
    )


def last_attempt(store: "Store", head: Head) -> "Variable | None":
    """The newest attempt at the pending step that ended without one, if there was any."""
    if head.state.tries == 0:
        return None
    variables = store.variables(f"{attempt_name(head.thread, '')}")
    if not variables:
        return None
    return max(variables, key=lambda variable: _order(variable.name))


def _order(name: str) -> tuple[int, int]:
    number, attempt = name.rpartition("/")[2].split(".")
    return int(number), int(attempt)


def with_text(base: str, text: str | None) -> str:
    """A prompt, a blank line, and what a person adds."""
    if not text:
        return base
    return f"{base}\n\n{text}" if base else text
