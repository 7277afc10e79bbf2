"""What a run that died has left behind: ended, kept, and written down before anything else."""

from typing import TYPE_CHECKING

from uwf_core.engine.attempt import Attempt, close_with_step
from uwf_core.engine.record import Told, put_error, put_step, spent
from uwf_core.engine.watch import Watch
from uwf_core.errors import AgentInterrupted
from uwf_core.ids import Ref
from uwf_core.process import crash_points
from uwf_core.process.leftovers import end_leftovers
from uwf_core.thread.head import Head, move_head
from uwf_core.thread.index import Suspension, ThreadIndex
from uwf_core.thread.lifecycle import INTERRUPTED_MESSAGE, ended, with_session
from uwf_core.thread.names import attempt_name, turns_prefix
from uwf_core.thread.types import AttemptPayload
from uwf_core.thread.usage import usage_payload

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def recover(engine: "Engine", head: Head, watch: Watch) -> Head:
    """The head of a thread whose lock is held, after an open attempt is dealt with.

    Whatever that attempt's agent still does is ended first; what it had said becomes a failed
    attempt, and its session is kept.
    """
    opened = head.state.attempt
    if opened is None:
        return head
    name = attempt_name(head.thread, opened.name)
    ended_processes = end_leftovers(
        f"{head.thread}/{opened.name}", grace_seconds=engine.settings.limits.grace_seconds
    )
    if ended_processes:
        watch.notice(f"ended {ended_processes} processes that an interrupted run had left behind")
    waiting = Suspension(
        "interrupted", opened.role, INTERRUPTED_MESSAGE, AgentInterrupted.kind.word
    )
    variable = engine.store.variable(name)
    if variable is None:
        with engine.store.transaction():
            return move_head(engine.store, head, head.ref, ended(head.state, waiting))
    payload: AttemptPayload = engine.store.get(Ref(variable.value)).payload
    session = variable.tags.get("session", payload["session"])
    attempt = Attempt(opened.name, variable, {**payload, "session": session}, head)
    told = Told(
        attempt, None, _turns(engine, head, opened.name), _last_sign(engine, head, opened.name)
    )
    with engine.store.transaction():
        step = put_step(engine, told, put_error(engine, AgentInterrupted(INTERRUPTED_MESSAGE)), [])
        close_with_step(engine, attempt, step)
        state = ended(_state(head.state, told, session), waiting)
        for loose in engine.store.variables(turns_prefix(head.thread)):
            engine.store.delete_variable(loose)
        crash_points.reach("recover")
        return move_head(engine.store, head, head.ref, state)


def _turns(engine: "Engine", head: Head, attempt: str) -> list[Ref]:
    variables = engine.store.variables(turns_prefix(head.thread, attempt))
    return [Ref(variable.value) for variable in variables]


def _last_sign(engine: "Engine", head: Head, attempt: str) -> int:
    """When the attempt was last heard of, in ms: nobody knows when exactly it died."""
    variables = engine.store.variables(turns_prefix(head.thread, attempt))
    times = [variable.updated_ms for variable in variables]
    return max([head.variable.updated_ms, *times])


def _state(state: ThreadIndex, told: Told, session: str | None) -> ThreadIndex:
    """The index with what is known to be used, and the session that was under way."""
    payload = told.attempt.payload
    state = state._replace(
        totals=state.totals.plus(usage_payload(spent(told))),
        running_ms=state.running_ms + max(0, told.completed_ms - payload["startedAtMs"]),
    )
    return with_session(state, payload["role"], session, payload["agent"])
