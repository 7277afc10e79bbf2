"""`exec` of a role that other threads play: begin their calls, take steps of them, record what they
delivered.

A call is one thread, whose steps run in this process; the branches of a fan-out run in others, each
of which takes one after another. Locks of called threads are never waited for: a branch that runs
elsewhere is left alone. A branch that fails or waits stops no other. It is looked at again after
each step of a branch, since a person may have answered meanwhile.
"""

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from uwf_core.engine.advance import step_result
from uwf_core.engine.call_result import record_children
from uwf_core.engine.call_step import begin_calls, beyond_depth, call_of_role
from uwf_core.engine.child_run import Workers, run_here, workers_of
from uwf_core.engine.given_up import has_ended, leads_on, to_lock
from uwf_core.engine.labels import announce_calls
from uwf_core.engine.locking import locked_head, nothing_to_run
from uwf_core.engine.plan import moderate
from uwf_core.engine.results import Outcome, ended_by, exec_document
from uwf_core.engine.slots import most_at_a_time
from uwf_core.errors import BusyError, ExitCode, StoreError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import (
    OpenCall,
    at_call,
    calls_of,
    head_at_call,
    open_below,
    open_calls,
    shown_state,
    state_below,
)
from uwf_core.thread.head import Head, move_head, read_head
from uwf_core.thread.lifecycle import check_due, exit_code, state_words
from uwf_core.thread.lock import holder_of

if TYPE_CHECKING:
    from uwf_core.engine.child_run import Steps
    from uwf_core.engine.context import Attempt, Intent, Run, Task
    from uwf_core.engine.documents import StepResult
    from uwf_core.thread.decisions import Wait
    from uwf_core.workflow.definition import Role

_LOOK_SECONDS = 0.5
"""How often waiting branches are looked at while others run."""


def run_children(
    run: "Run",
    role: "Role",
    intent: "Intent",
    left: int,
    results: list["StepResult"],
    steps: "Steps",
) -> tuple[Head, Outcome | None]:
    """Begin the calls of a role, unless they are open; take steps of the called threads; record the
    result when all have ended.

    Args:
        run: the run of the caller. role: its role. intent: what a person asks for.
        left: how many steps may be taken. A command for one step takes a round of a fan-out: one
            of each branch, as many as may run at a time.
        results: gets the steps. steps: takes them in this process.

    Returns:
        The head of the caller, and the outcome of the run if nothing further can be run.

    Raises:
        UwfError: the calls could not begin, or no step be taken.
    """
    calls, task = open_calls(run.engine.store, run.head.thread), None
    if not calls:
        limited = beyond_depth(run, role)
        if limited is not None:
            return limited, Outcome(exec_document(limited, results), ExitCode.LIMIT)
        task, calls = _begin(run, role, intent)
    children = _Children(run, role, calls, left, results, steps)
    if task is not None and calls:
        announce_calls(run, role, calls, children.most)
    head = run.head._replace(state=at_call(run.head.state, role.name))
    if run.options.worker is not None and not children.have_ended():
        # The end of the last thread below wakes the caller.
        return head, Outcome(exec_document(head, results), ExitCode.DONE)
    with children.locks:
        children.run_all()
        joined = children.join(task)
    if joined is None:
        return head, children.outcome()
    if joined.failure is None:
        return joined.head, None
    results.append(step_result(run.engine, joined))
    if joined.head.state.suspension is None:  # the failure leads on
        return joined.head, None
    return joined.head, Outcome(exec_document(joined.head, results), joined.failure.kind.exit_code)


def _begin(run: "Run", role: "Role", intent: "Intent") -> "tuple[Task, list[OpenCall]]":
    """Store the calls of a step: none for an empty list.

    Raises:
        RoutingFailed: the graph leads nowhere, or a call cannot begin; nothing is stored.
        BusyError: another process runs a thread that continues.
    """
    task = moderate(run, intent)
    if role.fan_out is None:
        new = [call_of_role(run, role, task)]
    else:
        from uwf_core.engine.fan_out import calls_of_branches

        new = calls_of_branches(run, role, task)
    return task, begin_calls(run, role, task, new) if new else []


_Ended = tuple[ThreadId, int | None, Outcome | None, UwfError | None]
"""The end of a run of a thread: how many steps it might take (None: one, or a round), its outcome,
and why there is none.
"""


class _Children:
    """The called threads of one step while `exec` runs them.

    Attributes:
        most: how many of them may run at a time.
        locks: of a call while it runs, and of all threads until their result is recorded; the
            processes of branches end with them.
    """

    def __init__(
        self,
        run: "Run",
        role: "Role",
        calls: Sequence[OpenCall],
        left: int,
        results: list["StepResult"],
        steps: "Steps",
    ) -> None:
        self._run = run
        self._role = role
        self._calls = calls
        self._results = results
        self._steps = steps
        self._is_call = role.fan_out is None
        store, gives_up = run.engine.store, leads_on(run.definition, role)
        self._has_ended = partial(has_ended, store, gives_up=gives_up)
        self._to_lock = partial(to_lock, store, calls, gives_up=gives_up)
        self.most = 1
        self.locks = ExitStack()
        self._workers: Workers | None = None
        if role.fan_out is not None:
            most = role.fan_out.max_parallel or run.engine.settings.limits.parallel
            self.most = min(most, most_at_a_time(run.engine, [most]))
            self._workers = workers_of(run, self.locks)
        self._is_round = run.options.is_round
        self._left = self.most if self._is_round else left  # how many steps may still be taken
        self._error: UwfError | None = None  # the first of a run that could take no step
        self._locked = set[ThreadId]()
        self._running = set[ThreadId]()
        self._stopped_with: int | None = None  # of a run: by a person, or as others run below
        self._blocked: dict[ThreadId, list[int]] = {}
        self._ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()

    def run_all(self) -> None:
        """Run what can be run."""
        while True:
            self._start()
            if not self._running:
                if self._wait_for_first():
                    continue
                return
            try:
                self._take(self._ended.get(timeout=_LOOK_SECONDS))
            except queue.Empty:
                continue

    def _wait_for_first(self) -> bool:
        """Wait until the first thread may run that waits for a time; False if the run does not."""
        run, waits = self._run, (self._wait_of(call.child) for call in self._calls)
        ends = self._left <= 0 or self._error is not None or run.cancel.is_set()
        first = min(filter(None, waits), key=lambda each: each.until_ms, default=None)
        if ends or first is None or not run.may_wait(first):
            return False
        from uwf_core.engine.waiting import wait_to

        wait_to(run, first.until_ms, f"{self._role.name} waits")
        return not run.cancel.is_set()

    def _wait_of(self, thread: ThreadId) -> "Wait | None":
        """The time for which a thread waits, itself or in a call below."""
        shown = state_below(self._run.engine.store, thread)
        return None if shown is None else shown.wait

    def have_ended(self) -> bool:
        """Whether the results of all called threads can be recorded."""
        return all(self._has_ended(self._head(call.child)) for call in self._calls)

    def join(self, task: "Task | None") -> "Attempt | None":
        """The step of the caller, if all have ended and no process runs one of them. `task`: of
        calls that are new.
        """
        if not self.have_ended():
            return None
        try:
            for thread in sorted({*self._to_lock()} - self._locked):
                self._lock(thread, self.locks)
        except BusyError:  # a person resumes a branch
            return None
        children = [self._head(call.child) for call in self._calls]
        if not all(map(self._has_ended, children)):
            return None
        try:
            return self._record(children, task)
        except UwfError:
            store = self._run.engine.store
            with store.transaction():  # a last step that is reported has not waited for the disk
                for each in children:
                    move_head(store, each, each.ref, each.state)
            raise

    def _record(self, children: Sequence[Head], task: "Task | None") -> "Attempt":
        run, role = self._run, self._role
        if role.fan_out is not None:
            from uwf_core.engine.fan_out import check_branches

            check_branches(run, role, self._calls)
        apart = [each.state for each in children if each.state.worktree is not None]
        if apart:
            from uwf_core.engine.worktree import commit_result  # for threads with worktrees

            for state in apart:
                commit_result(run, state)
        return record_children(run, role, self._calls, children, task)

    def outcome(self) -> Outcome | None:
        """The outcome if a thread waits or has failed, or nothing can be run; else None."""
        run = self._run
        state = shown_state(run.engine.store, run.head.state)
        head = run.head._replace(state=state)
        if run.cancel.is_set():
            return Outcome(exec_document(head, self._results), ExitCode.INTERRUPTED)
        if self._error is not None:
            if not self._results:
                raise self._error
            return ended_by(head, self._results, self._error)
        if state.status == "suspended":
            return Outcome(exec_document(head, self._results), exit_code(state))
        if self._stopped_with is not None:
            return Outcome(exec_document(head, self._results), self._stopped_with)
        if state.wait is not None and run.options.worker is None:
            if not self._results and not run.options.waits:
                check_due(head.thread, state, run.engine.now_ms())
            return Outcome(exec_document(head, self._results), exit_code(state))
        if state.status != "running" or self._has_all_steps():
            return None
        if self._results:
            return Outcome(exec_document(head, self._results), ExitCode.BUSY)
        raise BusyError(
            f"the branches of thread {head.thread} that are left run in other processes",
            hint=f"`uwf thread wait {head.thread}` waits for them",
        )

    def _has_all_steps(self) -> bool:
        """Whether the steps that the command asked for were taken: then it does not matter that
        other processes run branches. A round ends before all that may run has.
        """
        if not self._results or self._left <= 0:
            return bool(self._results)
        self._blocked.clear()
        return self._is_round and any(True for _ in self._ready())

    def _head(self, thread: ThreadId) -> Head:
        store = self._run.engine.store
        return head_at_call(store, read_head(store, thread))

    def _lock(self, thread: ThreadId, locks: ExitStack) -> Head:
        engine, notice = self._run.engine, self._run.watch.notice
        head = locks.enter_context(locked_head(engine, thread, notice))
        if locks is self.locks:
            self._locked.add(thread)
        return head_at_call(engine.store, head)

    def _start(self) -> None:
        """Start threads, as many as may run at a time; those of this process one after the other,
        and branches in turn.
        """
        if self._run.cancel.is_set():
            return
        has_process = self._workers is not None
        room = min(self._left, self.most - len(self._running) if has_process else self._left)
        ready = list(self._ready()) if room > 0 else []
        for number, head in enumerate(ready[:room]):
            share = max(1, self._left // max(1, len(ready) - number))
            share = share if has_process or self._is_call else 1
            count = None if self._is_round else share
            self._left -= count or 1
            self._running.add(head.thread)
            if has_process:
                name, work = f"branch-{head.thread}", (head, count)
                threading.Thread(target=self._execute, args=work, name=name, daemon=True).start()
            else:
                self._execute(head, count)

    def _ready(self) -> Iterator[Head]:
        """The threads that can be run now."""
        for call in self._calls:
            if call.child in self._running:
                continue
            head, blocked = self._head(call.child), self._blocked.get(call.child)
            if self._has_ended(head):
                continue
            if blocked is not None and (wait := self._wait_of(call.child)) is not None:
                if wait.until_ms <= self._run.engine.now_ms() and self._error is None:
                    yield head
            elif self._is_call:  # its lock decides
                if blocked is None:
                    yield head
            elif self._is_free(head, blocked):
                yield head

    def _is_free(self, head: Head, blocked: list[int] | None) -> bool:
        """Whether nobody runs a branch, and it can continue."""
        engine = self._run.engine
        if holder_of(engine.store, head.thread) is not None:
            return False
        if blocked is not None and blocked == self._mark(head.thread):
            return False
        # The next run ends an attempt that a dead one left open, perhaps with an answer.
        return head.state.attempt is not None or nothing_to_run(engine, head) is None

    def _execute(self, head: Head, count: int | None) -> None:
        outcome: Outcome | None = None
        error: UwfError | None = None
        try:
            if self._workers is None:
                outcome = self._run_here(head.thread, count)
            else:
                outcome = self._workers.run(head, count)
        except UwfError as problem:
            error = problem
        except Exception as problem:
            if self._workers is None:
                raise
            error = StoreError(f"the process of branch {head.thread}: {problem}")
        self._ended.put((head.thread, count, outcome, error))

    def _run_here(self, thread: ThreadId, count: int | None) -> Outcome | None:
        run = self._run._replace(is_call=self._is_call)  # branches come before the joint result
        with ExitStack() as own:
            child = self._lock(thread, self.locks if self._is_call else own)
            if self._has_ended(child):
                return None
            waiting = nothing_to_run(run.engine, child)
            if waiting is None:
                return run_here(run, child, count, self._steps)
        run.watch.notice(f"called thread {thread} is {state_words(child.state)}; nothing is run")
        return waiting

    def _take(self, ended: _Ended) -> None:
        """Take the end of a run: its steps, and whether the thread can continue."""
        thread, most, outcome, error = ended
        self._running.remove(thread)
        taken = [] if outcome is None else outcome.document["steps"]
        self._results += taken
        if most is not None:
            again = sum(each["failure"] is not None and each["status"] == "idle" for each in taken)
            self._left += max(0, most - len(taken) + again)  # a failed attempt is not a step
        error = error or (outcome and outcome.error)
        if error is not None and (self._is_call or error.exit_code != ExitCode.BUSY):
            self._error = self._error or error
        code = None if outcome is None else outcome.exit_code
        if code == ExitCode.INTERRUPTED or (self._is_call and code == ExitCode.BUSY):
            self._stopped_with = code
        if code != ExitCode.DONE or not taken or self._is_round:
            self._block(thread, outcome)

    def _block(self, thread: ThreadId, outcome: Outcome | None) -> None:
        """Leave a thread alone until something changes in it or below: it waits, or has failed,
        and what a person does about that may have happened by now. One that is held up by a limit
        is looked at anew each time: another step may use less than was reserved for it.
        """
        store = self._run.engine.store
        mark, shown = self._mark(thread), state_below(store, thread)
        was_waiting = outcome is not None and outcome.document["status"] == "suspended"
        waits = shown.suspension if shown is not None else None
        is_answered = was_waiting and waits is None
        is_limited = waits is not None and waits.reason == "limit" and not calls_of(store, thread)
        if self._is_round or self._is_call or not (is_answered or is_limited):
            self._blocked[thread] = mark

    def _mark(self, thread: ThreadId) -> list[int]:
        """What changes whenever something is stored in a thread, or in one of its calls."""
        store = self._run.engine.store
        threads = [thread, *open_below(store, thread)]
        return [read_head(store, each).state.seq for each in threads]
