"""One attempt at a step: the value that its stages fill, and what is stored before it ends."""

import json
from typing import TYPE_CHECKING, Any

from uwf_core.api.events import StepStarted, ThreadStarted
from uwf_core.engine.context import Attempt
from uwf_core.engine.labels import callers_of, event_fields
from uwf_core.engine.results import forget_run
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref
from uwf_core.process import crash_points
from uwf_core.process.identity import ProcessId, hostname
from uwf_core.thread.decisions import Event, session_payload, workspace_of
from uwf_core.thread.fold import fold
from uwf_core.thread.head import move_head
from uwf_core.thread.names import ALIAS_TAG, attempt_name, attempts_prefix
from uwf_core.workflow.definition import NO_LIMITS, NO_ROLE_LIMITS

if TYPE_CHECKING:
    from uwf_core.api.sums import ReservePayload
    from uwf_core.engine.context import Run, Task
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import AskedForPayload, FilesPayload, GuidancePayload


def _is_free(run: "Run", attempt: Attempt) -> bool:
    """Whether nothing limits the attempt. A called thread may have limits of its callers."""
    state, definition = attempt.head.state, run.definition
    role = definition.roles[attempt.task.role]
    own, most = role.limits, role.max_unchanged
    if most and role.name in state.roles and state.roles[role.name].unchanged >= most:
        return False
    if own is not None and own[:-1] != NO_ROLE_LIMITS[:-1]:  # the last one is max_unchanged
        return False
    return state.caller is None and state.limits is None and definition.limits == NO_LIMITS


def _admit(run: "Run", attempt: Attempt) -> "ReservePayload | None":
    """What an attempt with limits may use. Within the transaction that opens it.

    Raises:
        LimitReached: there is no room. A step that a person asks for is not held up, since the
            text or answer would be lost.
        NoSlot: as many steps of the tree run as may.
    """
    state, role = attempt.head.state, run.definition.roles[attempt.task.role]
    if state.caller is not None:
        from uwf_core.engine.slots import check_slot

        check_slot(run.engine, state)
    from uwf_core.engine.budget import admit

    return admit(run.engine, state, role, must_fit=not attempt.by_person)


def check_surroundings(run: "Run", attempt: Attempt) -> None:
    """Check the worktree of the thread, if it has one, and what is outside of it.

    Raises:
        RoutingFailed: git takes another folder for the worktree.
    """
    if run.head.state.worktree is not None:
        from uwf_core.engine.worktree import before_step  # for threads with worktrees

        before_step(run, attempt)


def _has_expired(run: "Run", head: "Head", now_ms: int) -> bool:
    """Whether the time of the question has passed, which is stored then."""
    from uwf_core.engine.expiry import expire_if_due  # not for every step

    return expire_if_due(run.engine, head, now_ms) is not head


def save_prompt(run: "Run", attempt: Attempt) -> None:
    """Store the start of the attempt and its prompt, without waiting for the disk, and report it.

    If the agent cannot be called, the instruction is stored as the prompt.

    Raises:
        LimitReached: a limit leaves no room for it; nothing is stored.
    """
    engine, head, task = run.engine, attempt.head, attempt.task
    store, opened, own = engine.store, attempt.opened, ProcessId.own()
    session = attempt.known.id if attempt.known and not attempt.known.inherited else None
    files: FilesPayload | None = None
    if run.definition.record or engine.settings.workspace.record:
        from uwf_core.engine.recording import files_before  # not for every step

        files = {"artifacts": None, "workspace": files_before(run, attempt)}
    is_free = _is_free(run, attempt)
    started_ms = engine.now_ms()
    if head.state.suspension is not None and _has_expired(run, head, started_ms):
        raise WrongStateError(
            f"thread {head.thread} has continued: its question expired just now",
            hint=f"next: uwf thread show {head.thread}",
        )
    # Alone, if a limit has to be compared with what others use.
    with store.batch(durable=False) if is_free else store.transaction(durable=False):
        reserved = None if is_free else _admit(run, attempt)
        attempt.payload = {
            "thread": head.thread,
            "seq": head.state.seq,
            "number": task.number,
            "role": task.role,
            "agent": attempt.choice.name,
            "prev": task.prev,
            "startedAtMs": started_ms,
            "session": session_payload(session),
            "attempt": _asked_for(engine, attempt),
            "files": files,
            "engine": {"pid": own.pid, "start": own.start, "host": hostname()},
            "marker": attempt.marker,
            "reserved": reserved,
            "step": None,
            "question": None,
        }
        attempt.session = session
        word = attempt.choice.word
        tags = {ALIAS_TAG: word} if word in engine.settings.agents else {}
        ref, plain = engine.nodes.put_plain("attempt", attempt.payload)
        name = attempt_name(head.thread, opened.name)
        variable = store.set_variable(name, ref, tags, None)
        crash_points.reach("begin")
        state = fold(head.state, Event("attempt", ref, plain))
        moved = move_head(store, head, head.ref, state)
    attempt.variable, attempt.head, attempt.saved = variable, moved, attempt.request  # once stored
    forget_run(engine.home, head.thread)
    _announce(run, attempt)


def _asked_for(engine: "Engine", attempt: Attempt) -> "AskedForPayload":
    task, put, request = attempt.task, engine.store.put_text, attempt.request
    instruction = str(put(task.instruction))
    return {
        "number": attempt.opened.attempt,
        "purpose": task.purpose,
        "replaces": task.replaces,
        "edgePrompt": instruction if task.base == task.instruction else str(put(task.base)),
        "instruction": instruction,
        "prompt": instruction if request is None else str(put(request.prompt)),
        "said": str(put(task.said)) if task.said else None,
        "answer": _answer(engine, task),
        "by": task.by,
        "cwd": task.cwd,
        "ownSession": attempt.known is not None and attempt.known.knows_role,
        "skills": _guidance(engine, attempt) if attempt.guidance else None,
    }


def _guidance(engine: "Engine", attempt: Attempt) -> "list[GuidancePayload]":
    put = engine.store.put_text
    return [{**each._asdict(), "text": str(put(each.text))} for each in attempt.guidance]  # type: ignore[typeddict-item]


def _answer(engine: "Engine", task: "Task") -> str | None:
    if task.answer is None:
        return None
    return str(engine.store.put_text(json.dumps(task.answer, ensure_ascii=False)))


def _announce(run: "Run", attempt: Attempt) -> None:
    """Report the start of the attempt, and with the first one that of the thread."""
    payload, state = attempt.payload, attempt.head.state
    if attempt.head.at_start and payload["attempt"]["number"] == 1:
        run.watch.event(
            ThreadStarted(
                thread=payload["thread"],
                workflow=state.workflow,
                workflow_name=state.workflow_name,
                cwd=run.folder,
                at_ms=payload["startedAtMs"],
            )
        )
    run.watch.event(
        StepStarted(
            attempt=payload["attempt"]["number"],
            answers=payload["attempt"]["answer"] is not None,
            alias=attempt.choice.alias,
            callers=callers_of(run.engine, state),
            **event_fields(run.engine, attempt),
        )
    )


def end_attempt(run: "Run", attempt: Attempt) -> None:
    """Take the time of the end, and store the turns that wait. A second call stores them again,
    since the transaction of the first may have been rolled back.

    Raises:
        StoreError: the progress of the agent could not be stored.
    """
    if attempt.variable is None:
        save_prompt(run, attempt)
    else:
        attempt.progress.finish()
    attempt.ended_ms = attempt.ended_ms or run.engine.now_ms()
    attempt.usage = attempt.usage and attempt.total_usage()


def record_files(run: "Run", attempt: Attempt) -> None:
    """Record the files after the attempt if those before it were, and note what changed outside of
    a worktree. Outside of a transaction.
    """
    if attempt.outside is not None:
        from uwf_core.engine.worktree import after_step  # for threads with worktrees

        attempt.ended_ms = attempt.ended_ms or run.engine.now_ms()
        after_step(run, attempt)
    if attempt.variable is None or workspace_of(attempt.payload) is None:
        return
    from uwf_core.engine.recording import files_after  # not for every step

    attempt.ended_ms = attempt.ended_ms or run.engine.now_ms()  # recording is not its time
    files: FilesPayload = {"artifacts": None, "workspace": files_after(run, attempt)}
    attempt.payload = {**attempt.payload, "files": files}
    if run.head.is_queued:
        from uwf_core.engine.moving import save_files  # for threads of workers

        save_files(run, attempt)


def withdraw(run: "Run", attempt: Attempt) -> None:
    """Delete the start of an attempt that a usage error ended, with its turns."""
    if attempt.variable is None:
        return
    end_attempt(run, attempt)
    with run.engine.store.batch():
        forget_attempt(run.engine, attempt)
        state = attempt.head.state._replace(attempt=None)
        move_head(run.engine.store, attempt.head, attempt.head.ref, state)


def forget_attempt(engine: "Engine", attempt: Attempt, *, failed_ones: bool = False) -> None:
    """Delete the names of the attempt and of its turns, and those of `failed_ones` before it.
    Within a transaction.
    """
    assert attempt.variable is not None
    gone = [attempt.variable]
    if failed_ones and attempt.head.state.tries:
        gone = engine.store.variables(attempts_prefix(attempt.head.thread))
    for variable in (*attempt.loose, *gone):
        engine.store.delete_variable(variable)


def save_end(engine: "Engine", attempt: Attempt, **changes: Any) -> Ref:
    """Store the end of an attempt without a step: its failed step or its question. The step or the
    node has its turns now, so their names are deleted. Within a transaction.
    """
    assert attempt.variable is not None
    for variable in attempt.loose:
        engine.store.delete_variable(variable)
    ref = engine.nodes.put("attempt", {**attempt.payload, **changes})
    kept = {key: tag for key, tag in attempt.variable.tags.items() if key == ALIAS_TAG}
    engine.store.set_variable(attempt.variable.name, ref, kept, attempt.variable)
    return ref
