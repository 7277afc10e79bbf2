"""`exec`: step after step, until the thread is done or waits, a limit, or a signal."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from uwf_core.engine.advance import recover, save_unrouted, step_result
from uwf_core.engine.agents import OpenPlugins, agent_for, check_agent
from uwf_core.engine.attempt import Attempt
from uwf_core.engine.find import find_thread
from uwf_core.engine.location import named_folder
from uwf_core.engine.names import check_run
from uwf_core.engine.plan import GO_ON, Intent, moderate
from uwf_core.engine.results import (
    Broadcast,
    Outcome,
    Watch,
    announce_end,
    ended_by,
    exec_document,
    forget_run,
    save_run,
    with_notices,
)  # fmt: skip
from uwf_core.engine.step import run_step
from uwf_core.errors import (
    AgentFailure,
    BusyError,
    ExitCode,
    InternalFailure,
    LimitReached,
    RoutingFailed,
    UwfError,
    WrongStateError,
)
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread import lifecycle
from uwf_core.thread.head import Head, nodes_present, read_head
from uwf_core.thread.lock import thread_lock

if TYPE_CHECKING:
    from uwf_core.engine.documents import StepResult
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel
    from uwf_core.workflow.definition import Definition, Role

UNTIL_DONE_STEPS = 100


class RunOptions(NamedTuple):
    """How far to run, and how.

    Attributes:
        steps: the number of steps, unless `until_done`; None: one, or one round of branches.
        agent: the word of `--agent`.
        cwd: a working folder in place of the thread's.
        announce: the descriptor on which a background run reports that it holds the lock.
        wait_limits: the most seconds to wait for the ends of rate limits; None: as configured.
        earlier: steps that the same command took in a thread below; its outcome has them too.
        player: an agent that also replaces a person. call: in place of that of the thread.
        in_copy: the folder is a copy already, so it needs no worktree.
        head: the reference that the head must have, None: any.
        worker: of a worker: whether to take another step from this head. Then threads below are
            not run here: they have dispatch rows as well.
    """

    steps: int | None = None
    until_done: bool = False
    agent: str | None = None
    cwd: str | None = None
    announce: int | None = None
    wait_limits: float | None = None
    earlier: "Sequence[StepResult]" = ()
    player: str | None = None
    call: tuple[str, str] | None = None
    in_copy: bool = False
    head: str | None = None
    worker: "Callable[[Head], bool] | None" = None

    @property
    def is_round(self) -> bool:
        """Whether a fan-out takes a step of as many branches as may run at a time."""
        return self.steps is None and not self.until_done


class Run(NamedTuple):
    """A command's run of one thread, whose lock it holds.

    Attributes:
        head: the head of the thread; each step continues with a copy that has the next head.
        watch: who gets its events and notices. cancel: stops it.
        plugins: the agents and extractors that it has opened.
        cwd: the folder that replaces the thread's, absolute.
        is_call: whether the run of the calling thread continues in this process.
    """

    engine: "Engine"
    head: Head
    watch: Broadcast
    cancel: "Cancel"
    plugins: OpenPlugins
    options: RunOptions = RunOptions()
    cwd: str | None = None
    is_call: bool = False

    @property
    def definition(self) -> "Definition":
        """The workflow of the thread."""
        return self.engine.definitions[self.head.state.workflow]

    @property
    def folder(self) -> str:
        """The folder of the thread in this run."""
        return self.cwd or self.head.state.cwd

    def save(self, outcome: Outcome) -> Outcome:
        """Save the outcome of the run for `thread wait`, and return it."""
        if self.engine.durable:  # nobody waits for a thread of a temporary store
            thread = self.head.thread
            try:
                save_run(self.engine, thread, outcome)
            except OSError as error:
                self.watch.notice(f"`uwf thread wait {thread}` will not know this run: {error}")
        return outcome


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
        return run.save(outcome)


def outcome_after(engine: "Engine", thread: str, error: UwfError) -> Outcome:
    """The outcome of a command that created a thread, but could not run it."""
    return ended_by(read_head(engine.store, ThreadId(thread)), [], error)


@contextmanager
def locked_thread(engine: "Engine", word: str, watch: Watch, cancel: "Cancel") -> Iterator[Run]:
    """Lock a thread and recover what an earlier run left behind.

    Raises:
        BusyError: another process runs it.
        WrongStateError: it was called, and its result is recorded or its caller cancelled.
    """
    thread = find_thread(engine, word)
    with (
        cancel.governing(),
        with_notices(engine, thread),
        locked_head(engine, thread, watch.notice) as head,
    ):
        engine.store.on_lost(lambda: cancel.set("the lease of the thread is lost"))
        if head.state.caller is not None:
            from uwf_core.thread.calls import check_open  # not for every step

            check_open(engine.store, head)
        if engine.definition(Ref(head.state.workflow)).calls:
            from uwf_core.thread.calls import calling

            head = calling(engine.store, head)
        with (
            closing(OpenPlugins(engine)) as plugins,
            closing(Broadcast(watch, engine.observers)) as broadcast,
        ):
            yield Run(engine, head, broadcast, cancel, plugins)


@contextmanager
def locked_head(
    engine: "Engine", thread: ThreadId, notice: Callable[[str], None]
) -> Iterator[Head]:
    """The head of a thread, locked and recovered; raises as `locked_thread`."""
    with thread_lock(engine.store, thread, engine.now_ms()):
        head = read_head(engine.store, thread)
        lifecycle.check_usable(head, is_whole=nodes_present(engine.store, head))
        yield recover(engine, head, notice)


def nothing_to_run(engine: "Engine", head: Head) -> Outcome | None:
    """The outcome of exec if the thread is completed, or waits for a person or at a limit;
    None if there is a step to run.

    Raises:
        WrongStateError: it is cancelled.
    """
    state = head.state
    if state.status == "cancelled":
        raise WrongStateError(
            f"thread {head.thread} is cancelled",
            hint=f"to continue from its last step in a new thread: uwf thread fork {head.ref}",
        )
    reason = state.suspension and state.suspension.reason
    if reason == "limit":
        from uwf_core.engine.budget import still_reached

        reason = "limit" if still_reached(engine, state) else None
    if state.status == "completed" or reason in ("role", "limit"):
        return Outcome(exec_document(head, []), lifecycle.exit_code(state))
    return None


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
    wanted = UNTIL_DONE_STEPS if options.until_done else options.steps or 1
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
        if run.cancel.is_set():
            return Outcome(exec_document(run.head, results), ExitCode.INTERRUPTED)
        found = _next(run, intent, wanted - len(results), results, noticed)
        if found is None:
            continue
        head, outcome = found
        run, intent = run._replace(head=head), GO_ON
        if outcome is not None:
            return outcome
        if run.head.state.status != "idle":
            waited = _after_rate_limit(run)
            if waited is None:
                break
            run, wanted = waited, wanted + 1  # the attempt was not a step
    announce_end(run.engine, run.head, run.watch)
    code = lifecycle.exit_code(run.head.state)
    if options.until_done and run.head.state.status == "idle":
        code = ExitCode.LIMIT
        run.watch.notice(
            f"stopped after {wanted} steps; next: uwf thread exec {run.head.thread} --until-done"
        )
    return Outcome(exec_document(run.head, results), code)


def _goes_on(run: Run, intent: Intent) -> bool:
    worker = run.options.worker
    return worker is None or intent is not GO_ON or worker(run.head)


def _next(
    run: Run, intent: Intent, left: int, results: list["StepResult"], noticed: set[str]
) -> tuple[Head, Outcome | None] | None:
    """As `_advance`; None if the step has to wait for others of the tree."""
    try:
        return _advance(run, intent, left, results, noticed)
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


def _after_rate_limit(run: Run) -> Run | None:
    """The run after a wait until a service accepts calls again; None if it does not wait."""
    suspension = run.head.state.suspension
    if suspension is None or suspension.until_ms is None:
        return None
    from uwf_core.engine.waiting import wait_for_service

    left = wait_for_service(run)
    return None if left is None else run._replace(options=run.options._replace(wait_limits=left))


def calling_role(run: Run, intent: Intent) -> "Role | None":
    """The role of the next step if other threads play it."""
    if not run.definition.calls:
        return None
    from uwf_core.engine.call_run import called_role  # for workflows that call others

    return called_role(run, intent)


def _advance(
    run: Run, intent: Intent, left: int, results: list["StepResult"], noticed: set[str]
) -> tuple[Head, Outcome | None]:
    """Take a step, or at most `left` steps of a call, which `results` gets: the head afterwards,
    and the outcome if nothing further can be run.
    """
    try:
        role = calling_role(run, intent)
        if role is not None:
            from uwf_core.engine.call_run import run_calls

            return run_calls(run, role, intent, left, results, _steps)
        attempt = run_step(run, intent)
    except RoutingFailed as failure:
        attempt = _unrouted(run, intent, failure)
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


def _unrouted(run: Run, intent: Intent, failure: RoutingFailed) -> Attempt:
    """Suspend the thread, unless a person asked for the step: then it stays as it was."""
    if intent.kind != "go":
        raise failure
    state = run.head.state
    waiting = state.suspension
    return save_unrouted(run, failure, state.current_role or (waiting.role if waiting else ""))


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
