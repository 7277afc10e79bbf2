"""How many steps of one tree of threads may run at a time.

Loaded only where a thread was called.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from uwf_core.cas.walk import reached
from uwf_core.errors import BusyError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import STARTED, calling_heads, open_calls
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.lock import holder_of

if TYPE_CHECKING:
    from uwf_core.engine.context import Run
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.state import ThreadState

POLL_SECONDS: Final = 0.1
"""How often a step that has no slot looks for one."""


class NoSlot(BusyError):
    """As many steps of the tree run as may; the step has to wait for the end of one."""


def most_at_a_time(engine: "Engine", chosen: Sequence[int]) -> int:
    """How many steps of a tree may run at a time. `chosen`: `maxParallel` of its fan-outs, which
    may be more than the default of the configuration, but not more than what a user has set.
    """
    settings = engine.settings
    is_set = settings.origin(("limits", "parallel")).layer != "default"
    most = settings.limits.parallel
    return most if is_set else max(most, *chosen)


def waits_for_slot(run: "Run", error: BusyError) -> bool:
    """Whether it was a slot that a step could not get: then it waits for a moment, since steps end
    soon. A worker runs another thread meanwhile.
    """
    if not isinstance(error, NoSlot) or run.options.worker is not None:
        return False
    run.cancel.wait(POLL_SECONDS)
    return True


def check_slot(engine: "Engine", state: "ThreadState") -> None:
    """Check that a further step of the tree may run. Within the transaction that opens its attempt,
    so that no two steps take the last slot.

    Raises:
        NoSlot: as many run as may.
    """
    above = list(_above(engine, state))
    chosen = list(_chosen(engine, state, above))
    if not chosen:  # no fan-out: one step at a time
        return
    most = most_at_a_time(engine, chosen)
    root = above[-1].thread
    running = sum(1 for _ in _running(engine, root))
    if running >= most:
        raise NoSlot(
            f"{running} steps below thread {root} run, and {most} may",
            hint="it waits for one to end; to allow more: uwf config set limits.parallel N",
        )


def _above(engine: "Engine", state: "ThreadState") -> Iterator[Head]:
    """The threads whose steps wait for a thread, the nearest first. One that an agent has started
    is the root of a separate tree: the agent waits for it in a step that runs.
    """
    for head in calling_heads(engine.store, state):
        assert state.caller is not None
        if engine.store.payload(state.caller.event)["purpose"] == STARTED:
            return
        yield head
        state = head.state


def _chosen(engine: "Engine", state: "ThreadState", above: list[Head]) -> Iterator[int]:
    """`maxParallel` of each fan-out above a thread; 0 for one without."""
    for head in above:
        caller = state.caller
        assert caller is not None
        role = engine.definition(Ref(head.state.workflow)).roles.get(caller.role)
        if role is not None and role.fan_out is not None:
            yield role.fan_out.max_parallel or 0
        state = head.state


def _running(engine: "Engine", root: ThreadId) -> Iterator[ThreadId]:
    """The threads of a tree whose step a process runs now."""

    def after(thread: ThreadId) -> list[ThreadId]:
        return [call.child for call in open_calls(engine.store, thread)]

    for thread in reached([root], after):
        is_open = read_head(engine.store, thread).state.attempt is not None
        if is_open and holder_of(engine.store, thread) is not None:
            yield thread
