"""What a run that died has left behind: ended, kept, and written down before anything else."""

from typing import TYPE_CHECKING

from uwf_core.engine.advance import put_failed
from uwf_core.engine.attempt import Attempt, close_with_step
from uwf_core.engine.record import Told
from uwf_core.engine.watch import Watch
from uwf_core.errors import AgentInterrupted, CorruptNodeError
from uwf_core.ids import Ref
from uwf_core.process import crash_points
from uwf_core.process.leftovers import end_leftovers
from uwf_core.thread.head import Head, move_head
from uwf_core.thread.lifecycle import INTERRUPTED_MESSAGE
from uwf_core.thread.names import attempt_name, turns_prefix
from uwf_core.thread.state import fold
from uwf_core.thread.types import AttemptPayload

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
    variable = engine.store.variable(name)
    if variable is None:
        raise CorruptNodeError(
            f"the attempt {opened.name} of thread {head.thread} is missing",
            hint=f"`uwf cas verify {head.thread} --repair` goes on without it",
        )
    payload: AttemptPayload = engine.store.get(Ref(variable.value)).payload
    session = variable.tags.get("session", payload["session"])
    attempt = Attempt(opened.name, variable, {**payload, "session": session}, head)
    told = Told(
        attempt, None, _turns(engine, head, opened.name), _last_sign(engine, head, opened.name)
    )
    with engine.store.transaction():
        died = AgentInterrupted(INTERRUPTED_MESSAGE)
        step = put_failed(engine, told, died, INTERRUPTED_MESSAGE)
        close_with_step(engine, attempt, Ref(step.ref))
        for loose in engine.store.variables(turns_prefix(head.thread)):
            engine.store.delete_variable(loose)
        crash_points.reach("recover")
        return move_head(engine.store, head, head.ref, fold(head.state, step))


def _turns(engine: "Engine", head: Head, attempt: str) -> list[Ref]:
    variables = engine.store.variables(turns_prefix(head.thread, attempt))
    return [Ref(variable.value) for variable in variables]


def _last_sign(engine: "Engine", head: Head, attempt: str) -> int:
    """When the attempt was last heard of, in ms: nobody knows when exactly it died."""
    variables = engine.store.variables(turns_prefix(head.thread, attempt))
    times = [variable.updated_ms for variable in variables]
    return max([head.variable.updated_ms, *times])
