"""`exec` of a fan-out: rounds of its branches, each in a process; and the joint result.

Locks of branches are never waited for: one that runs elsewhere is left alone. A branch that fails
or waits stops no other. It is looked at again after each step of a branch, since a person may have
answered meanwhile.
"""

import queue
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from uwf_core.engine.branch_process import BranchProcess
from uwf_core.engine.call_record import record_empty, record_join
from uwf_core.engine.call_run import (
    Steps,
    after_call,
    has_ended,
    run_below,
    waiting_for_others,
)
from uwf_core.engine.call_step import beyond_depth
from uwf_core.engine.fan_out import begin_fan_out, check_branches
from uwf_core.engine.labels import label_of
from uwf_core.engine.locking import locked_head, nothing_to_run
from uwf_core.engine.results import Outcome, ended_by, exec_document
from uwf_core.engine.slots import most_at_a_time
from uwf_core.errors import BusyError, ExitCode, UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import (
    OpenCall,
    at_call,
    calling,
    calls_of,
    open_below,
    open_calls,
    shown_state,
    state_below,
)
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.lifecycle import exit_code
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import FINISHED

if TYPE_CHECKING:
    from uwf_core.engine.context import Attempt, Intent, Run
    from uwf_core.engine.documents import StepResult
    from uwf_core.workflow.definition import Role

_LOOK_SECONDS = 0.5
"""How often waiting branches are looked at while others run."""


def run_fan_out(
    run: "Run",
    role: "Role",
    intent: "Intent",
    left: int,
    results: list["StepResult"],
    steps: Steps,
) -> tuple[Head, Outcome | None]:
    """Begin the calls of a fan-out, unless they are open; take steps of its branches; record the
    joint result when all have ended.

    Args:
        run: the run of the caller. role: of the fan-out. intent: what a person asks for.
        left: how many steps may be taken. A command for one step takes a round: one of each branch,
            as many as may run at a time.
        results: gets the steps. steps: takes them in this process.

    Returns:
        The head of the caller, and the outcome of the run if nothing further can be run.

    Raises:
        UwfError: the calls could not begin, or no step be taken.
    """
    calls = open_calls(run.engine.store, run.head.thread)
    is_new = not calls
    if is_new:
        limited = beyond_depth(run, role)
        if limited is not None:
            return limited, Outcome(exec_document(limited, results), ExitCode.LIMIT)
        task, calls = begin_fan_out(run, role, intent)
        if not calls:
            empty = record_empty(run, role, task)
            return empty.head, after_call(run, empty, results)
    rounds = _Rounds(run, role, calls, left, results, steps)
    if is_new:
        rounds.announce()
    if run.options.worker is not None and not all(has_ended(run, call) for call in calls):
        return waiting_for_others(run, role, results)
    rounds.run_all()
    joined = _joined(run, role, calls)
    if joined is not None:
        return joined.head, after_call(run, joined, results)
    head = run.head._replace(state=at_call(run.head.state, role.name))
    return head, rounds.outcome()


def _joined(run: "Run", role: "Role", calls: Sequence[OpenCall]) -> "Attempt | None":
    """The step of the caller, if all branches have ended and no process runs one of them."""
    store = run.engine.store
    if not all(_has_ended(_head(run, call)) for call in calls):
        return None
    with ExitStack() as locks:
        try:
            children = [
                locks.enter_context(locked_head(run.engine, call.child, run.watch.notice))
                for call in calls
            ]
        except BusyError:  # a person resumes a branch
            return None
        if not all(_has_ended(calling(store, each)) for each in children):
            return None
        check_branches(run, role, calls)
        if any(each.state.worktree is not None for each in children):
            from uwf_core.engine.worktree import commit_result  # for branches with worktrees

            for each in children:
                commit_result(run, each.state)
        return record_join(run, role, calls, children)


def _head(run: "Run", call: OpenCall) -> Head:
    store = run.engine.store
    return calling(store, read_head(store, call.child))


def _has_ended(head: Head) -> bool:
    return head.state.status in FINISHED and head.state.attempt is None


class _Rounds:
    """The branches of a fan-out while `exec` runs them.

    Attributes:
        left: how many steps may still be taken.
        error: the first error of a process that could take no step.
    """

    def __init__(
        self,
        run: "Run",
        role: "Role",
        calls: Sequence[OpenCall],
        left: int,
        results: list["StepResult"],
        steps: Steps,
    ) -> None:
        assert role.fan_out is not None
        self._run = run
        self._role = role
        self._calls = calls
        self._results = results
        self._steps = steps
        most = role.fan_out.max_parallel or run.engine.settings.limits.parallel
        self._most = min(most, most_at_a_time(run.engine, [most]))
        self._is_round = run.options.is_round
        self._env = run.engine.process_env()
        self.left = self._most if self._is_round else left
        self.error: UwfError | None = None
        self._running: dict[str, BranchProcess] = {}
        self._was_stopped = False
        self._blocked: dict[str, list[int]] = {}
        self._ended: queue.SimpleQueue[BranchProcess] = queue.SimpleQueue()

    def announce(self) -> None:
        """One line for all branches, whose events have labels."""
        run, calls, fan_out = self._run, self._calls, self._role.fan_out
        assert fan_out is not None
        label = label_of(run.engine, run.head.state, calls[0].number)
        text = f"{len(calls)} branch{'' if len(calls) == 1 else 'es'}"
        if fan_out.parallel is None:
            text += f" of {fan_out.role}"
        else:
            text += f": {', '.join(call.name or '' for call in calls)}"
        if len(calls) > self._most:
            text += f"; at most {self._most} at a time"
        run.watch.notice(f"#{label} {self._role.name}: {text}")

    def run_all(self) -> None:
        """Run what can be run."""
        if self._env is None:
            self._run_in_turn()
            return
        while True:
            self._start()
            if not self._running:
                return
            try:
                self._take(self._ended.get(timeout=_LOOK_SECONDS))
            except queue.Empty:
                continue

    def outcome(self) -> Outcome | None:
        """The outcome if a branch waits or has failed, or nothing can be run; else None."""
        run = self._run
        store = run.engine.store
        state = shown_state(store, run.head.state)
        head = run.head._replace(state=state)
        if run.cancel.is_set():
            return Outcome(exec_document(head, self._results), ExitCode.INTERRUPTED)
        if self.error is not None:
            if not self._results:
                raise self.error
            return ended_by(head, self._results, self.error)
        if state.status == "suspended":
            return Outcome(exec_document(head, self._results), exit_code(state))
        if self._was_stopped:
            return Outcome(exec_document(head, self._results), ExitCode.INTERRUPTED)
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
        if not self._results or self.left <= 0:
            return bool(self._results)
        self._blocked.clear()
        return self._is_round and any(True for _ in self._ready())

    def _start(self) -> None:
        """Start branches, as many as may run at a time."""
        if self._run.cancel.is_set():
            return
        room = min(self._most - len(self._running), self.left)
        ready = list(self._ready()) if room > 0 else []
        for number, head in enumerate(ready[:room]):
            share = self.left // max(1, len(ready) - number)
            steps = None if self._is_round else max(1, share)
            self.left -= steps or 1
            assert self._env is not None
            process = BranchProcess(self._run, head, steps, self._env, self._ended.put)
            self._running[head.thread] = process

    def _ready(self) -> Iterator[Head]:
        """The branches that can be run now."""
        engine = self._run.engine
        for call in self._calls:
            if call.child in self._running:
                continue
            head = _head(self._run, call)
            if _has_ended(head) or holder_of(engine.store, call.child) is not None:
                continue
            blocked = self._blocked.get(call.child)
            if blocked is not None and blocked == self._mark(call.child):
                continue
            # The next run ends an attempt that a dead one left open, perhaps with an answer.
            if head.state.attempt is not None or nothing_to_run(engine, head) is None:
                yield head

    def _take(self, process: BranchProcess) -> None:
        """Take the end of a process: its steps, and whether the branch can continue."""
        del self._running[process.thread]
        taken = 0
        if process.outcome is not None:
            taken = len(process.outcome.document["steps"])
            self._results += process.outcome.document["steps"]
        if process.steps is not None:
            self.left += max(0, process.steps - taken)
        error = process.error or (process.outcome and process.outcome.error)
        if error is not None and not isinstance(error, BusyError):
            self.error = self.error or error
        code = None if process.outcome is None else process.outcome.exit_code
        failed = code != ExitCode.DONE
        self._was_stopped = self._was_stopped or code == ExitCode.INTERRUPTED
        if failed or not taken or self._is_round:
            self._block(process.thread, process.outcome)

    def _block(self, thread: ThreadId, outcome: Outcome | None) -> None:
        """Leave a branch alone until something changes in it or below: it waits, or has failed,
        and what a person does about that may have happened by now. One that is held up by a limit
        is looked at anew each time: another step may use less than was reserved for it.
        """
        store = self._run.engine.store
        mark, shown = self._mark(thread), state_below(store, thread)
        was_waiting = outcome is not None and outcome.document["status"] == "suspended"
        waits = shown.suspension if shown is not None else None
        is_answered = was_waiting and waits is None
        is_limited = waits is not None and waits.reason == "limit" and not calls_of(store, thread)
        if self._is_round or not (is_answered or is_limited):
            self._blocked[thread] = mark

    def _mark(self, thread: ThreadId) -> list[int]:
        """What changes whenever something is stored in a branch, or in a thread of its calls."""
        store = self._run.engine.store
        threads = [thread, *open_below(store, thread)]
        return [read_head(store, each).state.seq for each in threads]

    def _run_in_turn(self) -> None:
        """One step of each branch after the other, in this process."""
        while self.left > 0 and not self._run.cancel.is_set():
            ready = list(self._ready())[: self.left]
            for head in ready:
                self._run_here(head)
            if not ready:
                return

    def _run_here(self, head: Head) -> None:
        run = self._run._replace(is_call=False)  # other branches come before the joint result
        count = None if self._is_round else 1
        before = len(self._results)
        try:
            with locked_head(run.engine, head.thread, run.watch.notice) as child:
                child = calling(run.engine.store, child)
                outcome = run_below(run, child, count, self._steps)
        except UwfError as error:
            if not isinstance(error, BusyError):
                self.error = self.error or error
            self._block(head.thread, None)
            return
        self._results += outcome.document["steps"]
        self.left -= len(self._results) - before
        if outcome.error is not None:
            self.error = self.error or outcome.error
        if outcome.exit_code or outcome.error or self._is_round or len(self._results) == before:
            self._block(head.thread, outcome)
