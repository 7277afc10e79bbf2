"""`exec` of a role that another workflow plays: steps of the called thread, and its result."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from uwf_core.engine.advance import step_result
from uwf_core.engine.call_record import record_cancelled, record_result
from uwf_core.engine.call_step import begin_call, beyond_depth
from uwf_core.engine.context import GO_ON
from uwf_core.engine.location import moved_folder
from uwf_core.engine.locking import locked_head, nothing_to_run
from uwf_core.engine.results import Outcome, exec_document
from uwf_core.errors import ExitCode, UwfError
from uwf_core.ids import Ref
from uwf_core.thread.calls import OpenCall, at_call, calling, open_calls, shown_state
from uwf_core.thread.head import Head, move_head, read_head
from uwf_core.thread.lifecycle import state_words
from uwf_core.thread.names import FINISHED

if TYPE_CHECKING:
    from uwf_core.engine.context import Attempt, Intent, Run, RunOptions
    from uwf_core.engine.documents import StepResult
    from uwf_core.workflow.definition import Role

Steps = Callable[["Run", "RunOptions", "Intent"], Outcome]
"""Takes steps of a thread; `run.run_steps`."""


def run_call(
    run: "Run",
    role: "Role",
    intent: "Intent",
    left: int,
    results: list["StepResult"],
    steps: Steps,
) -> tuple[Head, Outcome | None]:
    """Begin the call of a role, unless it is open; take at most `left` steps of the called thread;
    record its result when it is completed.

    Args:
        run: the run of the caller. role: its role. intent: what a person asks for.
        left: how many steps may be taken. results: gets those that were.
        steps: takes them.

    Returns:
        The head of the caller, and the outcome of the run if nothing further can be run.

    Raises:
        UwfError: the call could not begin, or no step be taken.
    """
    store = run.engine.store
    calls = open_calls(store, run.head.thread)
    if not calls:
        limited = beyond_depth(run, role)
        if limited is not None:
            return limited, Outcome(exec_document(limited, results), ExitCode.LIMIT)
    call = calls[0] if calls else begin_call(run, role, intent)
    if run.options.worker is not None and not has_ended(run, call):
        return waiting_for_others(run, role, results)
    with locked_head(run.engine, call.child, run.watch.notice) as child:
        child, rest = calling(store, child), None
        if child.state.status not in ("completed", "cancelled"):
            rest = _steps_below(run, child, left, results, steps)
            child = calling(store, read_head(store, call.child))
        ended = _ended(run, call, child)
    if ended is not None:
        return ended.head, after_call(run, ended, results)
    head = run.head._replace(state=at_call(run.head.state, role.name))
    return head, None if rest is None else _document(run, results, rest)


def has_ended(run: "Run", call: OpenCall) -> bool:
    """Whether the called thread has ended."""
    state = read_head(run.engine.store, call.child).state
    return state.status in FINISHED and state.attempt is None


def waiting_for_others(
    run: "Run", role: "Role", results: list["StepResult"]
) -> tuple[Head, Outcome]:
    """The outcome of a worker: the end of the last thread below wakes the caller."""
    head = run.head._replace(state=at_call(run.head.state, role.name))
    return head, Outcome(exec_document(head, results), ExitCode.DONE)


def _steps_below(
    run: "Run", child: Head, left: int, results: list["StepResult"], steps: Steps
) -> Outcome | None:
    """Steps of the called thread: their outcome if it waits or failed."""
    waiting = nothing_to_run(run.engine, child)
    if waiting is not None:
        words = state_words(child.state)
        run.watch.notice(f"called thread {child.thread} is {words}; nothing is run")
        return waiting
    count = None if run.options.is_round else left
    outcome = run_below(run._replace(is_call=True), child, count, steps)
    results += outcome.document["steps"]
    return outcome if outcome.exit_code or outcome.error else None


def run_below(run: "Run", child: Head, count: int | None, steps: Steps) -> Outcome:
    """Take `count` steps (None: one, or one round) of a thread below, in this process."""
    cwd = folder_below(run, child)
    options = run.options._replace(count=count, until_done=False, cwd=cwd, announce=None)
    return steps(run._replace(head=child, cwd=None), options, GO_ON)


def folder_below(run: "Run", child: Head) -> str | None:
    """The folder of a thread below if the run replaces that of the caller."""
    if run.cwd is not None:
        from uwf_core.engine.worktree import begins_in_worktree  # for `--cwd`

        definition = run.engine.definition(Ref(child.state.workflow))
        is_apart = begins_in_worktree(run.engine.store, definition, child.state)
        if is_apart or child.state.worktree is not None:
            return None
    return run.cwd and moved_folder(child.state.cwd, run.head.state.cwd, run.cwd)


def _ended(run: "Run", call: OpenCall, child: Head) -> "Attempt | None":
    """The step of the caller, if the called thread has ended."""
    try:
        match child.state.status:
            case "completed":
                if child.state.worktree is not None:
                    from uwf_core.engine.worktree import commit_result

                    commit_result(run, child.state)
                return record_result(run, call, child)
            case "cancelled":
                return record_cancelled(run, call, child)
    except UwfError:
        store = run.engine.store
        with store.transaction():  # its last step is reported, and has not waited for the disk
            move_head(store, child, child.ref, child.state)
        raise
    return None


def after_call(run: "Run", ended: "Attempt", results: list["StepResult"]) -> Outcome | None:
    """The outcome after a call that failed."""
    if ended.failure is None:
        return None
    results.append(step_result(run.engine, ended))
    code = ended.failure.kind.exit_code
    return Outcome(exec_document(ended.head, results), code)


def _document(run: "Run", results: list["StepResult"], rest: Outcome) -> Outcome:
    """The outcome of the called thread, as that of the caller."""
    head = run.head._replace(state=shown_state(run.engine.store, run.head.state))
    return Outcome(exec_document(head, results), rest.exit_code, rest.error)
