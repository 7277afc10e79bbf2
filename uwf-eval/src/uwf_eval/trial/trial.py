"""One trial, from an empty folder to what is known of it. Whoever runs trials stores them.

prepare   copy the fixture, run setup, note what is protected
run       the thread, in a store of its own: in memory, where no agent's process can reach it
inspect   did the agent touch what it is judged by?
judge     in a copy that it could not have touched
leave     teardown; the thread goes into the main store; the folders are for others to remove
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from uwf_core.api import Cancel
from uwf_core.api.record import record
from uwf_core.client import Client
from uwf_core.errors import AgentStuck
from uwf_core.named_tuple import NamedTuple
from uwf_eval.judges.api import Evidence, judge_all, need_folder
from uwf_eval.records import Trial
from uwf_eval.task.model import Command, Task, fixture_of
from uwf_eval.task.tree import TreeError, copy_tree, make_private
from uwf_eval.trial import guard, verdict
from uwf_eval.trial.setting import agent_env, agent_word, command_env, judge_env
from uwf_eval.trial.space import Space, make_space
from uwf_eval.trial.thread import IN_MEMORY, Finished, Read, Templates, read_thread, run_thread
from uwf_eval.trial.verdict import Verdict


@record
class TrialContext:
    """What all trials of a run share.

    Attributes:
        main: a client of the main store. folder: where private folders are made.
        templates: the workflows.
        cwd: the folder that paths in `--agent` are relative to. env: the caller's environment.
        stamps: of each task's own copy, as the run found it, by the task's name.
        cancel: stops the trial under way. notice: gets lines for people.
    """

    main: Client
    folder: Path
    templates: Templates
    cwd: Path
    env: Mapping[str, str]
    stamps: Mapping[str, guard.Stamps]
    cancel: Cancel
    notice: Callable[[str], None]


class Result(NamedTuple):
    """A trial that has ended, and its folders; None: it left none, or somebody may write there
    still. `stuck`: an agent within this process does not stop, so that nothing more should be
    begun here.
    """

    trial: Trial
    space: Space | None
    stuck: bool = False


def run_trial(context: TrialContext, task: Task, planned: Trial) -> Result:
    """Run a trial and judge it. Whatever goes wrong is in what it gives; nothing is stored but
    its thread, and that is not waited for: the disk has it when it has the trial.
    """
    work = _Work(context, task, planned)
    stuck = False
    try:
        ended = work.attempt()
    except AgentStuck as error:
        stuck = True
        ended = verdict.of_stuck(error, cancelled=context.cancel.is_set())
    ended = work.tear_down(ended)
    if stuck:
        return Result(work.closed(ended), None, stuck)
    ended = work.hand_over(ended)
    work.close()
    return Result(work.closed(ended), work.space)


class _Work:
    """A trial under way: `done` is what is known of it by now."""

    def __init__(self, context: TrialContext, task: Task, planned: Trial) -> None:
        self.context = context
        self.task = task
        self.case = next(each for each in task.cases if each.name == planned.cell.case)
        self.began = time.monotonic()
        self.env = agent_env(context.env, task)
        self.done = replace(
            planned,
            attempt=planned.attempt + 1,
            started_at_ms=time.time_ns() // 1_000_000,
            failure=None,
            tampered=(),
            judges=(),
        )
        self.phase = "fixture"
        self.space: Space | None = None
        self.client: Client | None = None
        self.is_set_up = False
        self.is_handed_over = False

    def attempt(self) -> Verdict:
        """Everything up to the score.

        Raises:
            AgentStuck: an agent within this process does not stop.
        """
        try:
            space = self._prepare()
            before = guard.protected(space.work, self.task.protect)
            finished = self._run(space)
            ended = verdict.of_thread(finished.ended)
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

    def _prepare(self) -> Space:
        self._check_task()
        name = f"{self.done.number}.{self.done.attempt}"
        space = self.space = make_space(self.context.folder, self.done.run, name)
        fixture = fixture_of(self.task, self.case)
        if fixture is not None:
            copy_tree(fixture, space.work)
        self.phase = "setup"
        self.is_set_up = True
        if self.task.setup:
            self._run_commands(self.task.setup, space, self.context.cancel)
        return space

    def _check_task(self) -> None:
        touched = guard.touched(self.task.folder, self.context.stamps[self.task.name])
        if touched:
            raise TreeError(
                f"the run's copy of the task was changed: {touched[0]}",
                hint="start a new run; an agent of an earlier trial may have changed it",
            )

    def _run_commands(self, commands: Sequence[Command], space: Space, cancel: Cancel) -> None:
        from uwf_eval.trial.commands import run_commands

        run_commands(commands, space.work, command_env(self.context.env, self.task), cancel)

    def _run(self, space: Space) -> Finished:
        self.phase = "unavailable"
        cell = self.done.cell
        word = agent_word(cell.agent, self.task, self.context.cwd)
        client = self.client = self._open(space, word)
        self.context.templates.copy(cell.workflow, client)
        started = client.start(
            cell.workflow,
            self.case.prompt,
            cwd=space.work,
            agent=word,
        )
        self.done = replace(self.done, thread=started["thread"])
        context = self.context
        return run_thread(
            client, started["thread"], self.task.limits, context.cancel, context.notice
        )

    def _open(self, space: Space, word: str | None) -> Client:
        """A client of the trial's own store. The cell's model is an option of the agents that
        have one, and a model of the configuration for all others.
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

    def _inspect(self, space: Space, before: Mapping[str, str]) -> list[str]:
        """What the agent touched that it must not: it is gone by now, and so is all it started."""
        self.phase = "judge"
        found = guard.changed(before, guard.protected(space.work, self.task.protect))
        found += guard.touched(self.task.folder, self.context.stamps[self.task.name])
        return found

    def _tampered(self, what: Sequence[str]) -> Verdict:
        self.done = replace(self.done, tampered=tuple(what))
        return verdict.of_tampering(what)

    def _read(self) -> Read:
        """What is judged and reported of the thread."""
        assert self.client is not None and self.done.thread is not None
        self.phase = "store"
        read = read_thread(self.client, self.done.thread)
        self.done = replace(
            self.done, head=read.head, status=read.status, steps=read.steps, usage=read.usage
        )
        return read

    def _judge(self, space: Space, read: Read) -> Verdict:
        self.phase = "judge"
        assert self.client is not None and self.done.thread is not None
        if need_folder(self.task):
            make_private(space.private)
            copy_tree(space.work, space.judged, strict=False)
        if any(judge.entry is not None for judge in self.task.judges):
            self._write_store(space)
        evidence = Evidence(
            cwd=space.judged,
            thread=self.done.thread,
            record=read.document,
            env=judge_env(self.context.env, space.store),
            fixture=fixture_of(self.task, self.case),
            model=self.client.judge_model,
            client=self.client,
            state_dir=space.judges,
            cancel=self.context.cancel,
        )
        results = judge_all(self.task, evidence)
        if self.context.cancel.is_set():
            return verdict.INTERRUPTED
        self.done = replace(self.done, judges=tuple(results))
        # What the agent made has run below judges since it was looked at.
        touched = guard.touched(self.task.folder, self.context.stamps[self.task.name])
        return self._tampered(touched) if touched else verdict.of_judges(results)

    def _write_store(self, space: Space) -> None:
        """The thread in a file, for judges that are programs."""
        assert self.client is not None and self.done.thread is not None
        with Client.open(store=space.store, durable=False, beside=self.context.main) as judged:
            self.client.nodes.copy_thread(self.done.thread, judged.nodes, durable=False)

    def tear_down(self, ended: Verdict) -> Verdict:
        """Run the task's teardown, whatever happened; a pass in which it fails is not scored."""
        if not (self.task.teardown and self.is_set_up and self.space):
            return ended
        try:
            self._run_commands(self.task.teardown, self.space, Cancel())
        except Exception as error:
            if ended.failure is None and self._passes(ended):  # it may not hide a loss
                return verdict.of_error(error, "teardown")
            self.context.notice(f"the teardown of trial {self.done.number} failed: {error}")
        return ended

    def hand_over(self, ended: Verdict) -> Verdict:
        """Put the thread into the main store; where that fails, the trial has no score."""
        if self.done.head is None or ended.state == "not_run":
            return ended
        assert self.client is not None and self.done.thread is not None
        try:
            nodes = self.context.main.nodes
            self.client.nodes.copy_thread(self.done.thread, nodes, durable=False)
        except Exception as error:
            return verdict.of_error(error, "store")
        self.is_handed_over = True
        return ended

    def _passes(self, ended: Verdict) -> bool:
        score = ended.score or 0.0
        return ended.state == "scored" and score >= self.task.pass_score - 1e-9

    def close(self) -> None:
        """Let go of the trial's store."""
        if self.client is not None:
            self.client.close()

    def closed(self, ended: Verdict) -> Trial:
        """The trial as it is stored."""
        passed = None if ended.score is None else self._passes(ended)
        changes: dict[str, Any] = {} if self.is_handed_over else {"thread": None, "head": None}
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
