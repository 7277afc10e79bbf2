"""An attempt at a step: begun before the agent starts, ended with a step or with a failure."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.process import crash_points
from uwf_core.process.identity import ProcessId, hostname
from uwf_core.thread.head import Head, move_head
from uwf_core.thread.names import ALIAS_TAG, attempt_name, attempts_prefix
from uwf_core.thread.state import Event, OpenAttempt, fold
from uwf_core.thread.types import AttemptPayload

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.api.store import Variable
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.plan import Task


class Attempt(NamedTuple):
    """An open attempt: its name (`<number>.<try>`), variable and payload; the head it is of."""

    name: str
    variable: "Variable"
    payload: AttemptPayload
    head: Head


class Given(NamedTuple):
    """What an agent is given: the whole prompt, and the session that it continues."""

    prompt: str | None = None
    session: str | None = None
    own_session: bool = False


def begin(engine: "Engine", head: Head, task: "Task", choice: "Choice", given: Given) -> Attempt:
    """Write down that an attempt begins and what the agent is told, without waiting for the disk.

    An agent that could not be asked has been told nothing but the instruction.
    """
    store, now = engine.store, engine.now_ms()
    open_attempt = OpenAttempt(task.number, head.state.tries + 1, task.role)
    name = attempt_name(head.thread, open_attempt.name)
    own = ProcessId.own()
    with store.transaction(durable=False):
        instruction = store.put_text(task.instruction)
        payload: AttemptPayload = {
            "thread": head.thread,
            "seq": head.state.seq,
            "number": task.number,
            "attempt": open_attempt.attempt,
            "role": task.role,
            "agent": choice.name,
            "purpose": task.purpose,
            "prev": task.prev,
            "replaces": task.replaces,
            "edgePrompt": store.put_text(task.base),
            "instruction": instruction,
            "prompt": instruction if given.prompt is None else store.put_text(given.prompt),
            "said": None,
            "answer": None if task.answer is None else store.put_text(dumped(task.answer)),
            "by": None,
            "cwd": task.cwd,
            "session": given.session,
            "ownSession": given.own_session,
            "startedAtMs": now,
            "engine": {"pid": own.pid, "start": own.start, "host": hostname()},
            "marker": marker(head, open_attempt),
            "reserved": None,
            "step": None,
            "question": None,
        }
        tags = {ALIAS_TAG: choice.word} if choice.word in engine.settings.agents else {}
        ref, plain = engine.nodes.put_plain("attempt", payload)
        variable = store.set_variable(name, ref, tags, None)
        crash_points.reach("begin")
        opened = fold(head.state, Event("attempt", ref, plain))
        head = move_head(store, head, head.ref, opened)
    return Attempt(open_attempt.name, variable, payload, head)


def dumped(answer: Mapping[str, Any]) -> str:
    """A person's answer as text."""
    return json.dumps(answer, ensure_ascii=False)


def marker(head: Head, attempt: OpenAttempt) -> str:
    """What stands in the environment of everything that an attempt starts."""
    return f"{head.thread}/{attempt.name}"


def withdraw(engine: "Engine", attempt: Attempt) -> None:
    """The agent could not even be made: the attempt has never been."""
    store, head = engine.store, attempt.head
    with store.transaction():
        store.delete_variable(attempt.variable)
        move_head(store, head, head.ref, head.state._replace(attempt=None))


def close_with_step(engine: "Engine", attempt: Attempt, step: Ref) -> None:
    """The attempt failed, and `step` holds what is known of it. Within a transaction."""
    _close(engine, attempt, {**attempt.payload, "step": step})


def close_with_question(
    engine: "Engine", attempt: Attempt, question: Ref, session: str | None
) -> Ref:
    """The attempt waits for a person; its node. Within a transaction."""
    return _close(engine, attempt, {**attempt.payload, "session": session, "question": question})


def _close(engine: "Engine", attempt: Attempt, payload: AttemptPayload) -> Ref:
    ref = engine.nodes.put("attempt", payload)
    kept = {key: tag for key, tag in attempt.variable.tags.items() if key == ALIAS_TAG}
    engine.store.set_variable(attempt.variable.name, ref, kept, attempt.variable)
    return ref


def failed_steps(engine: "Engine", head: Head) -> list[Ref]:
    """The failed attempts at the pending step, oldest first."""
    if head.state.tries == 0:
        return []
    variables = sorted(
        engine.store.variables(attempts_prefix(head.thread)),
        key=lambda variable: int(variable.name.rpartition(".")[2]),
    )
    payloads = (engine.store.get(Ref(variable.value)).payload for variable in variables)
    return [Ref(payload["step"]) for payload in payloads if payload["step"] is not None]


def forget_attempts(engine: "Engine", attempt: Attempt, loose: Sequence["Variable"]) -> None:
    """Remove the attempts and loose turns of a step that is stored now. Within a transaction."""
    store = engine.store
    gone = [*loose, attempt.variable]
    if attempt.head.state.tries:
        gone = [*loose, *store.variables(attempts_prefix(attempt.head.thread))]
    for variable in gone:
        store.delete_variable(variable)
