"""`exec`: step after step, until the thread is done or waits, a limit, or a signal."""

import os
from math import inf
from typing import TYPE_CHECKING

from uwf_core.engine.advance import save_unrouted, step_result
from uwf_core.engine.agents import agent_for
from uwf_core.engine.context import GO_ON, Attempt, Intent, Run, RunOptions
from uwf_core.engine.location import named_folder
from uwf_core.engine.locking import locked_thread, nothing_to_run
from uwf_core.engine.names import check_run
from uwf_core.engine.open_plugins import check_agent
from uwf_core.engine.plan import moderate
from uwf_core.engine.results import (
    Outcome,
    announce_end,
    ended_by,
    exec_document,
    forget_run,
    save_run,
)
from uwf_core.engine.step import run_step
from uwf_core.engine.watch import Watch
from uwf_core.errors import (
    AgentFailure,
    BusyError,
    ExitCode,
    InternalFailure,
    LimitReached,
    RoutingFailed,
    UwfError,
)
from uwf_core.process.cancel import BY_CTRL_C
from uwf_core.thread import lifecycle
from uwf_core.thread.head import Head, mark_unattended, read_head
from uwf_core.workflow.definition import START

if TYPE_CHECKING:
    from uwf_core.engine.documents import StepResult
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel
    from uwf_core.workflow.definition import Role

UNTIL_DONE_STEPS = 100
LONGEST_HELD_SECONDS = 60


def exec_thread(
    engine: "Engine", word: str, options: RunOptions, watch: Watch, cancel: "Cancel"
) -> Outcome:
    """Run the next step or steps of a thread.

    Raises:
        BusyError: another process runs it. WrongStateError: it is cancelled.
    """
    with locked_thread(engine, word, watch, cancel) as run:
        lifecycle.check_head(run.head, options.head)
        outcome = nothing_to_run(engine, run.head)
        if outcome is None:
            outcome = run_steps(run, options, GO_ON)
        else:
            words = lifecycle.state_words(run.head.state)
            run.watch.notice(f"thread {run.head.thread} is {words}; nothing is run")
            if options.announce is not None:
                _announce(options.announce)
        outcome.document["steps"][:0] = options.earlier
        return save_run(run, outcome)


def _announce(descriptor: int) -> None:
    os.write(descriptor, b"running\n")
    os.close(descriptor)


def run_steps(run: Run, options: RunOptions, intent: Intent) -> Outcome:
    """Take steps from the head: the first with `intent`, the others as `exec` does.

    An error after the first step is part of the outcome, so that every step is reported. In the
    background so is any error after the lock was announced, since no process reads our stderr then.

    Raises:
        UwfError: the first step could not be taken.
    """
    is_part = run.head.state.caller is not None  # perhaps a branch, for which its caller waits
    several = (options.count or 1) > 1 and not is_part
    is_waiting = options.until_done or several or intent.kind == "resume"
    longest = inf if options.announce is None else LONGEST_HELD_SECONDS
    options = options._replace(waits=longest if is_waiting else 0)
    if not is_part and options.worker is None:
        goes_on = options.until_done or options.announce is not None
        head = mark_unattended(run.engine.store, run.head, is_unattended=goes_on)
        run = run._replace(head=head)
    outcome = _announced_steps(run, options, intent)
    is_watched = options.until_done and options.announce is None
    is_capped = is_watched and outcome.exit_code == ExitCode.LIMIT  # `tick` continues the others
    if run.cancel.reason == BY_CTRL_C or is_capped:
        now = read_head(run.engine.store, run.head.thread)
        mark_unattended(run.engine.store, now, is_unattended=False)
    return outcome


def _announced_steps(run: Run, options: RunOptions, intent: Intent) -> Outcome:
    if options.announce is None:
        return _steps(run, options, intent)
    try:
        check_step(run, options, intent)
    except AgentFailure:
        if intent.kind != "go":
            raise  # else it is stored as the failure of the step
    forget_run(run.engine.home, run.head.thread)
    _announce(options.announce)
    try:
        return _steps(run, options, intent)
    except Exception as problem:  # `wait` reports it
        error = InternalFailure(f"{type(problem).__name__}: {problem}")
        return ended_by(run.head, [], problem if isinstance(problem, UwfError) else error)


def _steps(run: Run, options: RunOptions, intent: Intent) -> Outcome:
    run = _resolved(run, options)
    wanted = UNTIL_DONE_STEPS if options.until_done else options.count or 1
    results, noticed = list["StepResult"](), set[str]()
    is_apart = run.head.state.caller is not None or run.definition.workspace is not None
    if is_apart and not options.in_copy:
        from uwf_core.engine.worktree import in_worktree  # not for every workflow

        try:
            run = in_worktree(run)
        except RoutingFailed as failure:
            attempt = _unrouted(run, intent, failure)
            document = exec_document(attempt.head, [step_result(run.engine, attempt)])
            return Outcome(document, lifecycle.exit_code(attempt.head.state))
    while len(results) < wanted and _goes_on(run, intent):
        _wait_until_due(run, intent)
        if run.cancel.is_set():
            return Outcome(exec_document(run.head, results), ExitCode.INTERRUPTED)
        found = _next(run, intent, wanted - len(results), results, noticed)
        if found is None:
            continue
        head, outcome = found
        run, intent = run._replace(head=head, options=run.options._replace(now=False)), GO_ON
        if outcome is not None:
            return outcome
        if run.head.state.wait is not None or run.head.state.status != "idle":
            again = _after_wait(run)
            if again is None:
                break
            has_failed = run.head.state.suspension is not None or run.head.state.tries > 0
            run, wanted = again, wanted + has_failed  # such an attempt was not a step
    announce_end(run.engine, run.head, run.watch)
    code = lifecycle.exit_code(run.head.state)
    if options.until_done and run.head.state.status == "idle" and run.head.state.wait is None:
        code = ExitCode.LIMIT
        run.watch.notice(
            f"stopped after {wanted} steps; next: uwf thread exec {run.head.thread} --until-done"
        )
    return Outcome(exec_document(run.head, results), code)


def _goes_on(run: Run, intent: Intent) -> bool:
    worker = run.options.worker
    return worker is None or intent is not GO_ON or worker(run.head)


def _wait_until_due(run: Run, intent: Intent) -> None:
    if intent is GO_ON and run.head.state.wait is not None:
        from uwf_core.engine.waiting import wait_until_due

        wait_until_due(run)


def _next(
    run: Run, intent: Intent, left: int, results: list["StepResult"], noticed: set[str]
) -> tuple[Head, Outcome | None] | None:
    """As `_step_or_calls`; None if the step has to wait for others of the tree."""
    try:
        return _step_or_calls(run, intent, left, results, noticed)
    except LimitReached as limit:
        return run.head, Outcome(exec_document(_at_limit(run, limit), results), ExitCode.LIMIT)
    except UwfError as error:
        if isinstance(error, BusyError) and run.head.state.caller is not None:
            from uwf_core.engine.slots import waits_for_slot

            if waits_for_slot(run, error):
                return None
        if not results:
            raise
        return run.head, ended_by(run.head, results, error)


def _after_wait(run: Run) -> Run | None:
    """The run if it continues: it may wait for its next step, or has waited until a service accepts
    calls again; else None.
    """
    suspension, wait = run.head.state.suspension, run.head.state.wait
    if suspension is None and wait is not None:
        return run if run.may_wait(wait) else None
    if suspension is None or suspension.until_ms is None:
        return None
    from uwf_core.engine.waiting import wait_for_service

    left = wait_for_service(run)
    return None if left is None else run._replace(options=run.options._replace(wait_limits=left))


def calling_role(run: Run, intent: Intent) -> "Role | None":
    """The role of the next step if other threads play it."""
    definition, state = run.definition, run.head.state
    if not definition.calls:
        return None
    name = state.current_role or (state.suspension.role if state.suspension else "")
    if intent.kind == "poke":
        name = next((each for each, done in state.roles.items() if done.step == run.head.ref), "")
    elif intent.kind == "resume" and state.status == "completed":
        name = definition.graph[START]["resume"].role
    role = definition.roles.get(name)
    return role if role is not None and role.calls else None


def _step_or_calls(
    run: Run, intent: Intent, left: int, results: list["StepResult"], noticed: set[str]
) -> tuple[Head, Outcome | None]:
    """Take a step, or at most `left` steps of a call, which `results` gets: the head afterwards,
    and the outcome if nothing further can be run.
    """
    try:
        role = calling_role(run, intent)
        if role is not None:
            from uwf_core.engine.children import run_children

            return run_children(run, role, intent, left, results, _steps)
        attempt = run_step(run, intent)
    except RoutingFailed as failure:
        attempt = _unrouted(run, intent, failure, leads_on=run.head.state.status == "idle")
    results.append(step_result(run.engine, attempt))
    if attempt.variable is not None and attempt.payload["reserved"] is not None:
        _notice_unknown(run._replace(head=attempt.head), noticed)
    error = attempt.error
    return attempt.head, None if error is None else ended_by(attempt.head, results, error)


def check_step(run: Run, options: RunOptions, intent: Intent) -> None:
    """Check whether the next step can begin.

    Raises:
        RoutingFailed, UsageError: it cannot.
    """
    run = _resolved(run, options)
    if calling_role(run, intent) is None:
        check_agent(run.engine, agent_for(run, moderate(run, intent)))


def _resolved(run: Run, options: RunOptions) -> Run:
    """The run with these options, once every name in the configuration is resolved."""
    folder = None if options.cwd is None else named_folder(run.engine.cwd, options.cwd)
    run = run._replace(options=options, cwd=folder)
    check_run(run)
    return run


def _unrouted(
    run: Run, intent: Intent, failure: RoutingFailed, *, leads_on: bool = False
) -> Attempt:
    """Suspend the thread, unless a person asked for the step: then it stays as it was."""
    if intent.kind != "go":
        raise failure
    state = run.head.state
    waiting = state.suspension
    role = state.current_role or (waiting.role if waiting else "")
    return save_unrouted(run, failure, role, leads_on=leads_on)


def _notice_unknown(run: Run, noticed: set[str]) -> None:
    """Report each limit, once, whose figures are not known, or not all of them."""
    from uwf_core.engine.budget import unknown_now

    for text in unknown_now(run.engine, run.head.state, run.head.state.current_role):
        if text not in noticed:
            noticed.add(text)
            run.watch.notice(text)


def _at_limit(run: Run, limit: LimitReached) -> Head:
    """The head of a thread that a limit suspends before its next step."""
    from uwf_core.engine.budget import save_limit

    return save_limit(run.engine, run.head, limit.reached)
