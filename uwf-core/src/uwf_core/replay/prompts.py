"""The prompts that an attempt can have got, planned and written again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.engine.assemble import known_guidance, situation
from uwf_core.engine.context import GO_ON, Intent, Task
from uwf_core.engine.plan import next_task, recorded_task
from uwf_core.engine.programs import argv_of
from uwf_core.errors import RoutingFailed
from uwf_core.prompt.assemble import prompt_parts, prompt_text
from uwf_core.prompt.command import command_text
from uwf_core.replay.compare import same_text
from uwf_core.thread.decisions import session_of
from uwf_core.thread.history import Guidance, guidance_at, text_at
from uwf_core.thread.state import RoleSession
from uwf_core.workflow.definition import PROGRAM

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.replay.chain import Recorded
    from uwf_core.replay.position import ReplayPosition


_Guided = tuple[Sequence[Guidance], Sequence[Guidance]]
"""The skills, memory and rules of an attempt, and those of the last step of its role."""


class Prompted(NamedTuple):
    """A task with its prompt, which is None for a task of another role. `is_same`: the recorded
    attempt got it.
    """

    task: Task
    prompt: str | None
    is_same: bool


def prompt_again(store: "Store", position: "ReplayPosition", attempt: "Recorded") -> Prompted:
    """The task of an attempt and its prompt, planned from a position.

    What a person asked for, whether the agent knew its session and whether it delivers an object
    is not recorded in every case: then the recorded prompt decides among the possible ones.

    Raises:
        RoutingFailed: the graph leads nowhere.
    """
    recorded = text_at(store, attempt.payload["attempt"]["prompt"]) or ""
    if attempt.is_failure:  # nobody got a prompt
        task = recorded_task(store, attempt.payload)
        return Prompted(task._replace(prev=position.prev), recorded, True)
    first: Prompted | None = None
    for intent in _intents(store, position, attempt.payload["attempt"]):
        task = next_task(position, intent)._replace(cwd=attempt.payload["attempt"]["cwd"])
        if task.role != attempt.payload["role"]:
            first = first or Prompted(task, None, False)
            continue
        for prompt in _prompts(store, position, attempt, task):
            found = Prompted(task, prompt, same_text(recorded, prompt))
            if found.is_same:
                return found
            first = first or found
    assert first is not None
    return first


def full_prompt(
    position: "ReplayPosition", task: Task, guidance: "Sequence[Guidance]", *, typed: bool
) -> str:
    """The prompt for a new session."""
    return _prompt(position, task, None, (guidance, ()), typed=typed)


def _intents(
    store: "Store", position: "ReplayPosition", asked: Mapping[str, Any]
) -> Iterator[Intent]:
    """What a person can have asked for, the likeliest first."""
    text, given = text_at(store, asked["said"]), text_at(store, asked["answer"])
    answer = None if given is None else json.loads(given)
    pending = position.pending()
    if pending is None:
        purpose: Any = asked["purpose"]
        yield GO_ON if purpose == "run" else Intent(purpose, text, answer)
        return
    if asked["purpose"] == pending.purpose and text == pending.said:
        yield GO_ON
    if pending.said is not None and text is not None:
        yield Intent("resume", text.removeprefix(f"{pending.said}\n\n"), answer)
    if text == pending.said:
        yield Intent("resume", None, answer)
    yield Intent("resume", text, answer)
    if answer is not None and pending.question is None:  # it is kept from the failed attempt
        yield Intent("resume", text)


def _prompts(
    store: "Store", position: "ReplayPosition", attempt: "Recorded", task: Task
) -> Iterator[str]:
    """The prompts of a task for each session and form of reply that fit the record."""
    payload = attempt.payload
    role = position.definition.roles[task.role]
    if role.calls:  # the task of the called thread; each branch of a fan-out has its own
        yield task.instruction if role.fan_out is None else task.said or ""
        return
    if payload["agent"] == PROGRAM and role.program is not None:
        yield from _commands(store, position, attempt, task)
        return
    typed = payload.get("extractor") is None and attempt.kind not in ("failed", "asked")
    guidance: _Guided = (guidance_at(store, payload["attempt"]["skills"]), ())
    if guidance[0] or role.memory:
        guidance = (guidance[0], known_guidance(store, position, task))
    for session in _sessions(position, attempt):
        yield _prompt(position, task, session, guidance, typed=typed)
        yield _prompt(position, task, session, guidance, typed=not typed)
    if attempt.kind == "failed":
        yield task.instruction  # stored if the agent could not be called


def _commands(
    store: "Store", position: "ReplayPosition", attempt: "Recorded", task: Task
) -> Iterator[str]:
    """The command of a program; of an attempt that failed before it had one, the instruction."""
    try:
        yield command_text(argv_of(store, position, task))
    except RoutingFailed:
        if attempt.kind != "failed":
            raise
    if attempt.kind == "failed":
        yield task.instruction


def _prompt(
    position: "ReplayPosition",
    task: Task,
    session: RoleSession | None,
    guidance: "_Guided",
    *,
    typed: bool,
) -> str:
    now = situation(
        position, task, session, typed=typed, guidance=guidance[0], known_guidance=guidance[1]
    )
    parts = prompt_parts(position.definition.roles[task.role], now)
    return prompt_text(parts, task.role if now.own_session else None)


def _sessions(position: "ReplayPosition", attempt: "Recorded") -> Iterator[RoleSession | None]:
    """The session that the agent continued, and none if it was lost or there was none."""
    payload = attempt.payload
    if payload["attempt"]["ownSession"]:
        role = position.state.role(payload["role"])
        known = role.sessions.get(payload["agent"])
        yield known if known is not None and known.knows_role else _newest(position, payload)
    if not payload["attempt"]["ownSession"] or _may_be_lost(attempt):
        yield None


def _may_be_lost(attempt: "Recorded") -> bool:
    """Whether the session was lost, or may have been: a failed attempt does not record that."""
    continuation = session_of(attempt.payload)["continuation"]
    return continuation == "restarted" or (attempt.kind == "failed" and continuation == "new")


def _newest(position: "ReplayPosition", payload: Mapping[str, Any]) -> RoleSession:
    """A session that knows all earlier steps, for a record whose thread is gone."""
    return RoleSession(session_of(payload)["id"] or "", max(1, payload["number"] - 1), False, None)
