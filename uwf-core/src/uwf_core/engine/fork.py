"""A new thread that shares the chain of another up to a step; nothing is copied."""

from typing import TYPE_CHECKING

from uwf_core.engine.documents import StartedDocument
from uwf_core.engine.find import find_step
from uwf_core.engine.landing import land
from uwf_core.engine.plan import body_of_step
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.chain import Step, failure_of, is_start, newest_first, read_start, read_step
from uwf_core.thread.head import create_head
from uwf_core.thread.index import RoleState, ThreadIndex

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def fork_step(engine: "Engine", word: str) -> StartedDocument:
    """A thread that goes on from a step, or from a start.

    Sessions come along as inherited: they are forked when their role speaks again, never
    continued.

    Raises:
        UnknownIdError: there is no such step. WrongStateError: it is a failed attempt.
    """
    ref = find_step(engine, word)
    index = _index_at(engine, ref)
    now = engine.now_ms()
    thread = ThreadId.new(now)
    with engine.store.transaction():
        create_head(engine.store, thread, ref, index._replace(started_ms=now))
    return {"workflow": index.workflow, "workflowName": index.workflow_name, "thread": thread}


def _index_at(engine: "Engine", ref: Ref) -> ThreadIndex:
    store = engine.store
    if is_start(store.get(ref).payload):
        return _index_of_start(engine, ref)
    step = read_step(store, ref)
    if failure_of(store, step) is not None:
        raise WrongStateError(
            f"{ref} is a failed attempt; a thread cannot go on from it",
            hint="`uwf step list THREAD` shows the steps that can be forked",
        )
    steps = list(newest_first(store, ref, Ref(step.payload["start"])))
    index = _index_of_start(engine, Ref(step.payload["start"]))
    index = index._replace(
        steps=len(steps), inherited_steps=len(steps), roles=inherited_roles(steps)
    )
    definition, role = engine.definition(Ref(index.workflow)), step.payload["role"]
    output = store.get(Ref(step.payload["output"])).payload
    return land(definition, index, role, output, body_of_step(store, step)).state


def _index_of_start(engine: "Engine", ref: Ref) -> ThreadIndex:
    start = read_start(engine.store, ref)
    definition = engine.definition(Ref(start["workflow"]))
    return ThreadIndex(
        status="idle",
        workflow=start["workflow"],
        workflow_name=definition.name,
        start=ref,
        cwd=start["cwd"],
        started_ms=start["startedAtMs"],
        current_role=definition.graph["$START"]["new"].role,
        agent=start["agent"],
    )


def inherited_roles(newest_first: list[Step]) -> dict[str, RoleState]:
    """What each role has behind it, from its steps; their sessions belong to the parent."""
    roles: dict[str, RoleState] = {}
    for step in reversed(newest_first):
        payload = step.payload
        visits = roles[payload["role"]].visits if payload["role"] in roles else 0
        roles[payload["role"]] = RoleState(
            visits + 1, step.ref, payload["number"], payload["session"], payload["agent"], True
        )
    return roles
