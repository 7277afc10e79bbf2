"""Runs one trial. The caller stores the result and removes the folders.

prepare   copy the fixture, run setup, record the protected files
run       run the thread in its own store: in memory, where no process of the agent can reach it
inspect   did the agent change protected files?
judge     in a copy to which the agent had no access
leave     run teardown; import the thread into the main store
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from uwf_core.api import Cancel
from uwf_core.client import Client
from uwf_core.errors import AgentStuck, UwfError
from uwf_eval.judges.api import Evidence, need_folder
from uwf_eval.judges.run_judge import judge_all
from uwf_eval.judges.startable import unable
from uwf_eval.plan.budget import unknown_limits
from uwf_eval.records import Budget, JudgeResult, Trial
from uwf_eval.task.model import Task, fixture_of
from uwf_eval.task.tree import Entry, copy_tree, make_private, remove_tree, walk
from uwf_eval.trial import recorded, tampering, verdict
from uwf_eval.trial.environment import judge_env
from uwf_eval.trial.folders import TrialFolders, TrialResult
from uwf_eval.trial.kept import keep, with_kept_paths
from uwf_eval.trial.playing import PlayedTrial, TrialContext
from uwf_eval.trial.thread import ThreadRun, ThreadSummary, read_thread
from uwf_eval.trial.verdict import Verdict
from uwf_eval.trial.worktree import copy_worktree, remove_worktrees, worktree_of


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


class _TrialRun(PlayedTrial):
    """A trial from its folder to its verdict."""

    def attempt(self) -> Verdict:
        """Prepare, run, inspect and judge the trial.

        Raises:
            AgentStuck: an agent in this process does not stop.
        """
        try:
            if self.is_played:
                return self._judge_kept()
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

    def _judge_kept(self) -> Verdict:
        """Judge the thread and the kept files of a trial that its judges could not judge."""
        space = self._folders()
        assert self.done.thread is not None
        self.phase = "store"
        main = self.context.main
        if self.case.step is not None:
            self.given = main.unattended.step_input(self.case.step)
        self.client = self._open(space, self._word())
        main.nodes.copy_thread(self.done.thread, self.client.nodes, durable=False)
        read = self._read()
        start = fixture_of(self.task, self.case)
        self.unable = unable(self.task, start, self.context.settings.env)
        return self._judge(space, read)

    def _fixture(self, space: TrialFolders) -> Path | None:
        """The folder with which the trial began, for judges."""
        if not (self.has_recorded_files and self.given and need_folder(self.task)):
            return fixture_of(self.task, self.case)
        folder = space.private / "recorded"
        recorded.restore(self.context.main, self.given, folder)
        return folder

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
        seen: list[Entry] | None = None
        if need_folder(self.task):
            self._copy_work(space)
            seen = list(walk(space.judged))
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
        results = judge_all(self.task, evidence, self._known())
        self.done = replace(self.done, judges=tuple(results))
        # Judges have run code of the agent since the inspection.
        touched = self._touched()
        if touched and not self.context.cancel.is_set():
            return self._tampered(touched)
        ended = verdict.UNJUDGED if self.context.cancel.is_set() else verdict.of_judges(results)
        return self._keep(space, ended, seen) if ended.failure else ended

    def _known(self) -> Mapping[str, JudgeResult]:
        """The results of judges that have judged this trial already."""
        if not self.is_played or self.planned.task_digest != self.task.digest:
            return {}
        return {each.name: each for each in self.planned.judges if each.error is None}

    def _keep(self, space: TrialFolders, ended: Verdict, seen: "list[Entry] | None") -> Verdict:
        """Keep the files of a trial that judges could not judge, until they can.

        Args:
            ended: the verdict. seen: what was in the judges' copy of the files before they ran.
        """
        if ended.failure is None or ended.failure.kind != "judge":
            return ended
        try:
            if seen is None and not self.is_played:
                self._copy_work(space)
            digest = self.planned.kept if self.is_played else keep(self.kept, space, seen)
        except (OSError, UwfError) as error:
            self.context.notice(f"cannot keep the files of trial {self.done.number}: {error}")
            return ended if ended.state == "infra_error" else verdict.INTERRUPTED
        results, ended = with_kept_paths(self.done.judges, ended, space, self.kept)
        self.done = replace(self.done, judges=results, kept=digest)
        return ended

    def _worktree(self) -> Path | None:
        """The folder in which the thread worked, if that is not the trial's."""
        assert self.client is not None and self.done.thread is not None
        return worktree_of(self.client, self.done.thread)

    def _copy_work(self, space: TrialFolders) -> None:
        """Copy the files to judge, to where the agent has no access."""
        make_private(space.private)
        if self.is_played:
            copy_tree(self.kept, space.judged, strict=False)
            return
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
        if self.is_imported or self.done.head is None:
            return ended
        if ended.state == "not_run" and not self.done.kept:
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
        return ended.state == "scored" and score >= self.task.pass_ - 1e-9

    def close(self) -> None:
        """Close the trial's store."""
        if self.client is not None:
            remove_worktrees(self.client)
            self.client.close()
        if not self.done.kept:
            remove_tree(self.kept)

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
            duration_ms=self.done.duration_ms + round(1000 * (time.monotonic() - self.began)),
            **changes,
        )
