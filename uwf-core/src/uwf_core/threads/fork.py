"""A new thread that shares the chain of another up to a step; nothing is copied."""

from typing import TYPE_CHECKING

from uwf_core.engine.find import find_step
from uwf_core.engine.fork import fork_at
from uwf_core.engine.watch import Listener
from uwf_core.ids import Ref
from uwf_core.thread.history import is_start, read_start, read_step

if TYPE_CHECKING:
    from uwf_core.engine.documents import StartedDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch
    from uwf_core.thread.types import StartPayload


def fork_step(
    engine: "Engine",
    word: str,
    workflow: str | None = None,
    watch: "Watch | None" = None,
    *,
    folder: str | None = None,
) -> "StartedDocument":
    """Create a thread that continues from a step or a start.

    It inherits the sessions: each is forked when its role runs again, never continued.

    Args:
        engine: the engine.
        word: the step.
        workflow: a workflow to continue with, in place of the step's; inherited steps keep theirs.
        watch: gets the notices about the workflow.
        folder: restore the files after the step in this new folder, and work there; empty: in the
            default one.

    Raises:
        UnknownIdError: unknown step.
        UsageError: the workflow is unknown, or may not run its programs.
        WrongStateError: it is a failed attempt, or the workflow cannot continue from it.
        PayloadError: the typed input of the thread does not satisfy the workflow's schema.
    """
    ref, changed = find_step(engine, word), None
    if workflow is not None:
        changed = _changed_workflow(engine, ref, workflow, watch or Listener(None, None))
    thread = engine.thread_ids.new(engine.now_ms())
    if folder is not None:
        from uwf_core.threads.fork_files import fork_with_files  # not for every fork

        head = fork_with_files(engine, thread, ref, changed, folder, watch or Listener(None, None))
    else:
        with engine.store.transaction():
            head = fork_at(engine, thread, ref, changed)
    state = head.state
    return {"workflow": state.workflow, "workflowName": state.workflow_name, "thread": thread}


def _changed_workflow(engine: "Engine", ref: Ref, word: str, watch: "Watch") -> Ref:
    """The published workflow that a word names, as a thread of the step or start may run it."""
    from uwf_core.engine.workflows import find_workflow

    store = engine.store
    is_begin = is_start(store.payload(ref))
    begun = read_start(store, ref if is_begin else Ref(read_step(store, ref).payload["start"]))

    def check(workflow: Ref) -> None:
        _check_input(engine, begun, workflow)

    return find_workflow(engine, word, watch, begun["cwd"], check)


def _check_input(engine: "Engine", begun: "StartPayload", workflow: Ref) -> None:
    """Check that a workflow accepts the typed input of a thread."""
    definition, store = engine.definition(workflow), engine.store
    if definition.input is None:
        return
    from uwf_core.threads.typed_input import check_stored

    given = begun["input"]
    value = None if given is None else store.payload(Ref(given))
    check_stored(value, definition.input, definition.name)
