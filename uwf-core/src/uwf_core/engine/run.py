"""`exec`: step after step, until there is nothing more to do, a limit, or somebody says stop."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uwf_core.api.events import ThreadEnded
from uwf_core.engine.advance import fail_to_route
from uwf_core.engine.event import happen
from uwf_core.engine.find import find_thread
from uwf_core.engine.location import named_folder
from uwf_core.engine.names import check_run
from uwf_core.engine.plan import GO_ON, Intent
from uwf_core.engine.recover import recover
from uwf_core.engine.results import Outcome, StepEnd, ended_by, exec_document
from uwf_core.engine.run_file import forget_run, write_run
from uwf_core.engine.running import Run, check_agent
from uwf_core.engine.step import run_step
from uwf_core.engine.watch import Broadcast, Watch
from uwf_core.errors import (
    AgentFailure,
    ExitCode,
    InternalFailure,
    RoutingFailed,
    UwfError,
    WrongStateError,
)
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.head import Head, is_whole, read_head
from uwf_core.thread.lifecycle import (
    check_present,
    check_undamaged,
    exit_code,
    state_words,
)
from uwf_core.thread.limits import Allowance, LimitState, check_limits
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.next import waits

if TYPE_CHECKING:
    from uwf_core.engine.documents import StepResult
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel

UNTIL_DONE_STEPS = 100


class RunOptions(NamedTuple):
    """How far to run, and how.

    Attributes:
        steps: the number of steps, unless `until_done`. agent: the word of `--agent`.
        cwd: a working folder in place of the thread's.
        announce: the descriptor on which a background run reports that it holds the lock.
    """

    steps: int = 1
    until_done: bool = False
    agent: str | None = None
    cwd: str | None = None
    announce: int | None = None


def exec_thread(
    engine: "Engine", word: str, options: RunOptions, watch: Watch, cancel: "Cancel"
) -> Outcome:
    """Run the next step or steps of a thread.

    Raises:
        BusyError: another process runs it.
        WrongStateError: it is cancelled.
    """
    with locked_thread(engine, word, watch) as locked:
        rest = nothing_to_run(locked.head)
        if rest is None:
            return locked.save(run_steps(locked, options, cancel, GO_ON))
        locked.watch.notice(_rest_words(locked.head))
        if options.announce is not None:
            _announce(options.announce)
        return locked.save(rest)


def outcome_after(engine: "Engine", thread: str, error: UwfError) -> Outcome:
    """The outcome of a command that created a thread, but could not run it."""
    return ended_by(read_head(engine.store, ThreadId(thread)), [], error)


class LockedThread(NamedTuple):
    """A thread whose lock this process holds: its head, and the watch of its run."""

    engine: "Engine"
    head: Head
    watch: Watch

    def save(self, outcome: Outcome) -> Outcome:
        """Save the outcome of the run for `thread wait`, and return it."""
        if self.engine.durable:  # nobody waits for a thread of a store that is thrown away
            thread = self.head.thread
            try:
                write_run(self.engine, thread, outcome)
            except OSError as error:
                self.watch.notice(f"`uwf thread wait {thread}` will not know this run: {error}")
        return outcome


@contextmanager
def locked_thread(engine: "Engine", word: str, watch: Watch) -> Iterator[LockedThread]:
    """Lock a thread and recover what an earlier run left behind.

    Raises:
        BusyError: another process runs it.
    """
    thread = find_thread(engine, word)
    with thread_lock(engine.store, thread, engine.now_ms()):
        head = read_head(engine.store, thread)
        check_present(thread, is_whole=is_whole(engine.store, head))
        check_undamaged(head.damage, thread)
        head = recover(engine, head, watch)
        yield LockedThread(engine, head, Broadcast(watch, engine.observers))


def nothing_to_run(head: Head) -> Outcome | None:
    """What exec says of a thread in which it has nothing to run: it is completed, or waits for a
    person or for an allowance. None where there is something to run.

    Raises:
        WrongStateError: it is cancelled.
    """
    state = head.state
    if state.status == "cancelled":
        raise WrongStateError(
            f"thread {head.thread} is cancelled",
            hint=f"`uwf thread fork {head.ref}` goes on from its last step in a new thread",
        )
    waits = state.suspension is not None and state.suspension.reason in ("role", "limit")
    if state.status == "completed" or waits:
        return Outcome(exec_document(head, []), exit_code(state))
    return None


def _announce(descriptor: int) -> None:
    os.write(descriptor, b"running\n")
    os.close(descriptor)


def _rest_words(head: Head) -> str:
    waits = head.state.suspension
    words = f"thread {head.thread} is {state_words(head.state)}; nothing is run"
    if waits is None:
        return words
    return f"{words}: {waits.message}\n`uwf thread show {head.thread}` says how it goes on"


def run_steps(
    locked: LockedThread, options: RunOptions, cancel: "Cancel", intent: Intent
) -> Outcome:
    """Take steps from the head: the first with `intent`, the others as `exec` does.

    An error that comes after a step is part of the outcome: what was done is always reported. In
    the background so is any error after the lock was announced: nobody reads our stderr then.

    Raises:
        UwfError: not even the first step could be taken.
    """
    if options.announce is None:
        return _steps(locked, options, cancel, intent)
    try:
        check_step(locked, options, cancel, intent)
    except AgentFailure:
        if intent.kind != "go":
            raise  # else it is stored as the failure of the step
    forget_run(locked.engine.home, locked.head.thread)
    _announce(options.announce)
    try:
        return _steps(locked, options, cancel, intent)
    except Exception as problem:  # `wait` reports it
        error = InternalFailure(f"{type(problem).__name__}: {problem}")
        return ended_by(locked.head, [], problem if isinstance(problem, UwfError) else error)


def _steps(locked: LockedThread, options: RunOptions, cancel: "Cancel", intent: Intent) -> Outcome:
    run = _run_of(locked, options, cancel)
    wanted = UNTIL_DONE_STEPS if options.until_done else options.steps
    head = locked.head
    results: list[StepResult] = []
    said: set[str] = set()
    while len(results) < wanted:
        if cancel.is_set():
            return Outcome(exec_document(head, results), ExitCode.INTERRUPTED)
        if intent.kind == "go":  # what a person asks for is not held up: it would be lost
            limited = _at_limit(run, head)
            if limited is not None:
                return Outcome(exec_document(limited, results), ExitCode.LIMIT)
        try:
            end = _step(run, head, intent)
        except UwfError as error:
            if not results:
                raise
            return ended_by(head, results, error)
        head, intent = end.head, GO_ON
        results.append(end.result)
        if end.error is not None:
            return ended_by(head, results, end.error)
        _tell_unenforceable(run, head, said)
        if head.state.status != "idle":
            break
    _tell_end(run, head)
    code = exit_code(head.state)
    if options.until_done and head.state.status == "idle":
        code = ExitCode.LIMIT
        locked.watch.notice(
            f"stopped after {wanted} steps; `uwf thread exec {head.thread} --until-done` goes on"
        )
    return Outcome(exec_document(head, results), code)


def check_step(locked: LockedThread, options: RunOptions, cancel: "Cancel", intent: Intent) -> None:
    """Whether the next step could be begun.

    Raises:
        RoutingFailed, UsageError: it could not.
    """
    run = _run_of(locked, options, cancel)
    task = run.moderate(locked.head, intent)
    check_agent(locked.engine, run.choose_agent(locked.head, task))


def _run_of(locked: LockedThread, options: RunOptions, cancel: "Cancel") -> Run:
    """The run, once everything that the configuration names for it is resolved.

    Raises:
        ConfigError: something that is named is unknown or may not be used.
    """
    engine, cwd = locked.engine, options.cwd
    definition = engine.definition(Ref(locked.head.state.workflow))
    folder = None if cwd is None else named_folder(engine.cwd, cwd)
    run = Run(engine, definition, locked.watch, cancel, options.agent, folder)
    check_run(run, locked.head)
    return run


def _step(run: Run, head: Head, intent: Intent) -> StepEnd:
    try:
        return run_step(run, head, intent)
    except RoutingFailed as failure:
        if intent.kind != "go":
            raise  # what a person asked for cannot be run; the thread stays as it was
        waits = head.state.suspension
        role = head.state.current_role or (waits.role if waits else "")
        return fail_to_route(run, head, failure, role)


def _limits(run: Run, head: Head) -> LimitState:
    limits = run.definition.limits
    allowance = Allowance(
        limits.max_steps, limits.max_tokens, limits.max_cost_usd, limits.max_minutes
    )
    return check_limits(head.state, allowance)


def _tell_unenforceable(run: Run, head: Head, said: set[str]) -> None:
    """Say of each limit, once, that it cannot be known whether it is reached."""
    for name in _limits(run, head).unenforceable:
        if name not in said:
            said.add(name)
            run.watch.notice(f"limit {name} is not enforceable: the agent does not report it")


def _at_limit(run: Run, head: Head) -> Head | None:
    """The head of a thread that has reached a limit, suspended; None if it may go on."""
    reached = _limits(run, head).reached
    if reached is None:
        return None
    role = head.state.current_role or ""
    with run.engine.store.transaction():
        return happen(
            run.engine,
            head,
            "limit",
            limit=reached.name,
            value=reached.value,
            used=reached.used,
            next=waits("limit", role, reached.words()),
        )


def _tell_end(run: Run, head: Head) -> None:
    if head.state.status != "completed":
        return
    run.watch.event(
        ThreadEnded(
            thread=head.thread,
            workflow=head.state.workflow,
            workflow_name=head.state.workflow_name,
            status="completed",
            at_ms=run.engine.now_ms(),
        )
    )
