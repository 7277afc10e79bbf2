"""Runs one trial. The caller stores the result and removes the folders.

prepare   copy the fixture, run setup, record the protected files
run       run the thread in its own store: in memory, where no process of the agent can reach it
inspect   did the agent change protected files?
judge     in a copy to which the agent had no access
leave     run teardown; import the thread into the main store
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api import Cancel
from uwf_core.api.record import record
from uwf_core.client import Client
from uwf_core.errors import AgentStuck
from uwf_eval.judges.api import Evidence, need_folder
from uwf_eval.judges.run_judge import judge_all
from uwf_eval.judges.startable import unable
from uwf_eval.plan.budget import unknown_limits
from uwf_eval.records import Budget, Trial
from uwf_eval.run.executor import RunSettings
from uwf_eval.task.model import Command, Task, fixture_of
from uwf_eval.task.tree import TreeError, copy_tree, make_private
from uwf_eval.trial import recorded, tampering, verdict
from uwf_eval.trial.environment import agent_env, agent_word, command_env, judge_env, run_commands
from uwf_eval.trial.folders import TrialFolders, TrialResult, make_folders
from uwf_eval.trial.thread import (
    IN_MEMORY,
    ThreadRun,
    ThreadSummary,
    WorkflowCache,
    read_thread,
    run_thread,
    start_limits,
)
from uwf_eval.trial.verdict import Verdict
from uwf_eval.trial.worktree import copy_worktree, remove_worktrees, worktree_of

if TYPE_CHECKING:
    from uwf_core.client import StepInput


@record
class TrialContext:
    """What all trials of a run share.

    Attributes:
        main: a client of the main store. settings: of the run.
        templates: the workflows.
        cancel: stops the running trial. notice: gets lines for the user.
    """

    main: Client
    settings: RunSettings
    templates: WorkflowCache
    cancel: Cancel
    notice: Callable[[str], None]


def run_trial(context: TrialContext, task: Task, planned: Trial) -> TrialResult:
    """Run a trial and judge it. The result contains every error. Only the thread is stored, without
    waiting for the disk: it becomes durable with the trial.
    """
    work = _TrialRun(context, task, planned)
    stuck = False
    try:
        ended = work.attempt()
    except AgentStuck as error:
        stuck = True
        ended = verdict.of_stuck(error, cancelled=context.cancel.is_set())
    ended = work.tear_down(ended)
    if stuck:
        return TrialResult(work.closed(ended), None, stuck)
    ended = work.import_thread(ended)
    work.close()
    return TrialResult(work.closed(ended), work.space)


class _TrialRun:
    """A running trial; `done` is its record so far."""

    def __init__(self, context: TrialContext, task: Task, planned: Trial) -> None:
        self.context = context
        self.task = task
        self.case = next(each for each in task.cases if each.name == planned.cell.case)
        self.began = time.monotonic()
        self.env = agent_env(context.settings.env, task)
        self.done = replace(
            planned,
            attempt=planned.attempt + 1,
            started_at_ms=time.time_ns() // 1_000_000,
            failure=None,
            tampered=(),
            judges=(),
        )
        self.phase = "fixture"
        self.space: TrialFolders | None = None
        self.client: Client | None = None
        self.is_set_up = False
        self.is_imported = False
        self.given: StepInput | None = None
        self.unable: Mapping[str, str] = {}

    def attempt(self) -> Verdict:
        """Prepare, run, inspect and judge the trial.

        Raises:
            AgentStuck: an agent in this process does not stop.
        """
        try:
            space = self._prepare()
            before = tampering.protected(space.work, self.task.protect)
            finished = self._run(space)
            ended = self._end_of(finished)
            if ended is not None and ended.state == "not_run":
                return ended
            read = self._read()
            tampered = self._inspect(space, before)
            if read.chain != finished.steps:
                tampered.append("the steps in the trial's store differ from those that ran")
            if tampered:
                return self._tampered(tampered)
            return ended or self._judge(space, read)
        except AgentStuck:
            raise
        except Exception as error:
            return verdict.of_error(error, self.phase)

    def _end_of(self, finished: ThreadRun) -> Verdict | None:
        """The verdict if there is nothing to judge."""
        if self.given is None:
            return verdict.of_thread(finished.ended)
        return verdict.of_step(finished.ended, is_made=bool(finished.steps))

    def _prepare(self) -> TrialFolders:
        if touched := self._touched():
            raise TreeError(
                f"the run's copy of the task was changed: {touched[0]}",
                hint="start a new run; an agent of an earlier trial may have changed it",
            )
        name = f"{self.done.number}.{self.done.attempt}"
        space = self.space = make_folders(self.context.settings.folder, self.done.run, name)
        self._fill(space.work)
        self.phase = "setup"
        self.is_set_up = True
        if self.task.setup:
            self._run_commands(self.task.setup, space, self.context.cancel)
        self.unable = unable(self.task, space.work, self.context.settings.env)
        return space

    def _fill(self, folder: Path) -> None:
        """Put the files of the trial into its folder."""
        if self.case.step is not None:
            given = self.given = self.context.main.unattended.step_input(self.case.step)
            files = recorded.files_of(given, self.task, self.case)
            self.done = replace(self.done, recorded=recorded.begun(given, files))
        if self.has_recorded_files:
            assert self.given is not None
            recorded.restore(self.context.main, self.given, folder)
        elif (fixture := fixture_of(self.task, self.case)) is not None:
            copy_tree(fixture, folder)

    @property
    def has_recorded_files(self) -> bool:
        """Whether the folder began with the recorded files of a step."""
        return self.done.recorded is not None and self.done.recorded.files == "recorded"

    def _fixture(self, space: TrialFolders) -> Path | None:
        """The folder with which the trial began, for judges."""
        if not (self.has_recorded_files and self.given and need_folder(self.task)):
            return fixture_of(self.task, self.case)
        folder = space.private / "recorded"
        recorded.restore(self.context.main, self.given, folder)
        return folder

    def _touched(self) -> list[str]:
        """What was changed in the run's copy of the task."""
        stamps = self.context.settings.stamps[self.task.name]
        return tampering.touched(self.task.folder, stamps)

    def _run_commands(
        self, commands: Sequence[Command], space: TrialFolders, cancel: Cancel
    ) -> None:
        run_commands(
            commands, space.work, command_env(self.context.settings.env, self.task), cancel
        )

    def _run(self, space: TrialFolders) -> ThreadRun:
        self.phase = "unavailable"
        if self.given is not None:
            return self._run_step(space, self.given)
        cell = self.done.cell
        word = agent_word(cell.agent, self.task, self.context.settings.cwd)
        client = self.client = self._open(space, word)
        self.context.templates.copy(cell.workflow, client)
        thread = client.start(
            cell.workflow,
            self.case.prompt or "",
            cwd=space.work,
            agent=word,
            input=self.case.input,
            limits=start_limits(self.task.limits),
        )["thread"]
        self.done = replace(self.done, thread=thread)
        return run_thread(client, thread, self.context.cancel)

    def _run_step(self, space: TrialFolders, given: "StepInput") -> ThreadRun:
        """Make a recorded step again."""
        main, cell = self.context.main, self.done.cell
        word = recorded.word_of(given, cell.agent, self.task, self.context.settings.cwd)
        client = self.client = self._open(space, word)
        files = self.done.recorded.files if self.done.recorded is not None else "none"
        thread = recorded.begin(client, main, given, cell.workflow, space.work, files)
        self.done = replace(self.done, thread=thread)
        return recorded.run(client, thread, given, word, self.context.cancel)

    def _open(self, space: TrialFolders, word: str | None) -> Client:
        """Open the trial's store. The cell's model is an option for agents that have their own
        models, and a configured model for all others.
        """
        model, main = self.done.cell.model, self.context.main
        own = model is not None and main.installation.takes_model(word, space.work)
        return Client.open(
            cwd=space.work,
            env=self.env,
            store=IN_MEMORY,
            default_model=None if own else model,
            agent_options={"model": model} if own else None,
            pass_env=tuple(self.task.env),
            durable=False,
            beside=main,
        )

    def _inspect(self, space: TrialFolders, before: Mapping[str, str]) -> list[str]:
        """The protected files that the agent changed; all its processes have ended by now."""
        self.phase = "judge"
        folder = self._worktree() or space.work
        found = tampering.changed(before, tampering.protected(folder, self.task.protect))
        found += self._touched()
        return found

    def _tampered(self, what: Sequence[str]) -> Verdict:
        self.done = replace(self.done, tampered=tuple(what))
        return verdict.of_tampering(what)

    def _read(self) -> ThreadSummary:
        """Read the thread for judges and reports."""
        assert self.client is not None and self.done.thread is not None
        self.phase = "store"
        read = self._summary(self.client, self.done.thread)
        self.done = replace(
            self.done, head=read.head, status=read.status, steps=read.steps, usage=read.usage
        )
        limits = self.task.limits
        limited = Budget(cost_usd=limits.max_cost_usd, tokens=limits.max_tokens)
        for text in unknown_limits(limited, read.usage):
            self.context.notice(text)
        return read

    def _summary(self, client: Client, thread: str) -> ThreadSummary:
        if self.given is None or self.done.recorded is None:
            return read_thread(client, thread)
        found = recorded.compared(client, thread, self.given, self.done.recorded)
        self.done = replace(self.done, recorded=found)
        return recorded.read(client, self.context.main, thread, self.given)

    def _judge(self, space: TrialFolders, read: ThreadSummary) -> Verdict:
        self.phase = "judge"
        assert self.client is not None and self.done.thread is not None
        if self.done.recorded is not None and not self.task.judges:
            return recorded.verdict_of(self.done.recorded)
        if need_folder(self.task):
            make_private(space.private)
            self._copy_work(space)
        if any(judge.entry is not None for judge in self.task.judges):
            self._write_store(space)
        evidence = Evidence(
            cwd=space.judged,
            thread=self.done.thread,
            record=read.document,
            env=judge_env(self.context.settings.env, space.store),
            fixture=self._fixture(space),
            model=self.client.judge_model,
            client=self.client,
            state_dir=space.judges,
            unable=self.unable,
            cancel=self.context.cancel,
        )
        results = judge_all(self.task, evidence)
        if self.context.cancel.is_set():
            return verdict.INTERRUPTED
        self.done = replace(self.done, judges=tuple(results))
        # Judges have run code of the agent since the inspection.
        touched = self._touched()
        return self._tampered(touched) if touched else verdict.of_judges(results)

    def _worktree(self) -> Path | None:
        """The folder in which the thread worked, if that is not the trial's."""
        assert self.client is not None and self.done.thread is not None
        return worktree_of(self.client, self.done.thread)

    def _copy_work(self, space: TrialFolders) -> None:
        """Copy the files to judge, to where the agent has no access."""
        own = self._worktree()
        if own is None:
            copy_tree(space.work, space.judged, strict=False)
        else:
            copy_worktree(own, space.work, space.judged)

    def _write_store(self, space: TrialFolders) -> None:
        """Copy the thread into a store on disk, for judges that are programs."""
        assert self.client is not None and self.done.thread is not None
        with Client.open(store=space.store, durable=False, beside=self.context.main) as judged:
            self.client.nodes.copy_thread(self.done.thread, judged.nodes, durable=False)

    def tear_down(self, ended: Verdict) -> Verdict:
        """Run the task's teardown in any case; if it fails, a trial that passed is not scored."""
        if not (self.task.teardown and self.is_set_up and self.space):
            return ended
        try:
            self._run_commands(self.task.teardown, self.space, Cancel())
        except Exception as error:
            if ended.failure is None and self._passes(
                ended
            ):  # a failed teardown must not void a lost trial
                return verdict.of_error(error, "teardown")
            self.context.notice(f"the teardown of trial {self.done.number} failed: {error}")
        return ended

    def import_thread(self, ended: Verdict) -> Verdict:
        """Import the thread into the main store; if that fails, the trial has no score."""
        if self.done.head is None or ended.state == "not_run":
            return ended
        assert self.client is not None and self.done.thread is not None
        try:
            nodes = self.context.main.nodes
            trial = f"{self.done.run}/{self.done.number}"
            self.client.nodes.copy_thread(self.done.thread, nodes, trial=trial, durable=False)
        except Exception as error:
            return verdict.of_error(error, "store")
        self.is_imported = True
        return ended

    def _passes(self, ended: Verdict) -> bool:
        score = ended.score or 0.0
        return ended.state == "scored" and score >= self.task.pass_score - 1e-9

    def close(self) -> None:
        """Close the trial's store."""
        if self.client is not None:
            remove_worktrees(self.client)
            self.client.close()

    def closed(self, ended: Verdict) -> Trial:
        """The record to store."""
        passed = None if ended.score is None else self._passes(ended)
        changes: dict[str, Any] = {} if self.is_imported else {"thread": None, "head": None}
        return replace(
            self.done,
            state=ended.state,
            score=ended.score,
            passed=passed,
            failure=ended.failure,
            completed_at_ms=time.time_ns() // 1_000_000,
            duration_ms=round(1000 * (time.monotonic() - self.began)),
            **changes,
        )
