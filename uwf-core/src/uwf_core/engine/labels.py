"""The number of a step in a whole tree, for people who follow a run: `2.1`, `2.style`."""

from typing import TYPE_CHECKING

from uwf_core.ids import Ref
from uwf_core.thread.calls import STARTED, caller_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import CalledPayload


def label_of(engine: "Engine", state: "ThreadState", number: int) -> str:
    """The numbers of the steps that lead to a step of a thread, and of the branches among them, the
    root's first (see `StepStarted.label`). A branch of one role adds no number.

    A thread that an agent has started is the root of its run.
    """
    found = [] if engine.definition(Ref(state.workflow)).branch else [str(number)]
    while state.caller is not None:
        called: CalledPayload = engine.store.payload(Ref(state.caller.event))
        if called["purpose"] == STARTED:
            break
        name = called["index"] if called["branch"] is None else called["branch"]
        step = str(called["number"])
        found.append(step if name is None else f"{step}.{name}")
        above = caller_of(engine.store, state)
        if above is None:
            break
        state = above.state
    return ".".join(reversed(found))
