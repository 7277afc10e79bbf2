"""A new thread that shares the chain of another up to a step; nothing is copied."""

from typing import TYPE_CHECKING

from uwf_core.engine.find import find_step
from uwf_core.engine.fork import fork_at
from uwf_core.engine.results import Listener
from uwf_core.ids import ThreadId

if TYPE_CHECKING:
    from uwf_core.engine.documents import StartedDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Watch


def fork_step(
    engine: "Engine", word: str, workflow: str | None = None, watch: "Watch | None" = None
) -> "StartedDocument":
    """Create a thread that continues from a step or a start.

    It inherits the sessions: each is forked when its role runs again, never continued.

    Args:
        engine: the engine.
        word: the step.
        workflow: a workflow to continue with, in place of the step's; inherited steps keep theirs.
        watch: gets the notices about the workflow.

    Raises:
        UnknownIdError: unknown step. UsageError: unknown workflow.
        WrongStateError: it is a failed attempt, or the workflow cannot continue from it.
    """
    ref, changed = find_step(engine, word), None
    if workflow is not None:
        from uwf_core.engine.workflows import find_workflow

        changed = find_workflow(engine, workflow, watch or Listener(None, None))
    thread = ThreadId.new(engine.now_ms())
    with engine.store.transaction():
        head = fork_at(engine, thread, ref, changed)
    state = head.state
    return {"workflow": state.workflow, "workflowName": state.workflow_name, "thread": thread}
