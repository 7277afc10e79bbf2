"""Prepares a trial and runs its thread, in its own folder and its own store."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.api import Cancel, Usage
from uwf_core.client import Client
from uwf_eval.judges.startable import unable
from uwf_eval.records import Trial
from uwf_eval.run.executor import RunSettings
from uwf_eval.task.model import Task, fixture_of
from uwf_eval.task.tree import TreeError, copy_tree
from uwf_eval.trial import recorded, tampering
from uwf_eval.trial.environment import agent_env, agent_word, command_env, run_commands
from uwf_eval.trial.folders import TrialFolders, make_folders
from uwf_eval.trial.kept import is_kept, kept_folder
from uwf_eval.trial.thread import IN_MEMORY, ThreadRun, WorkflowCache, run_thread, start_limits

if TYPE_CHECKING:
    from uwf_core.client import StepInput


@dataclass(frozen=True, kw_only=True)
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


class PlayedTrial:
    """A running trial; `done` is its record so far."""

    def __init__(self, context: TrialContext, task: Task, planned: Trial) -> None:
        self.context = context
        self.task = task
        self.case = next(each for each in task.cases if each.name == planned.cell.case)
        self.began = time.monotonic()
        self.env = agent_env(context.settings.env, task)
        self.planned = planned
        self.kept = kept_folder(context.settings.folder, planned.number)
        self.is_played = is_kept(self.kept, planned, context.notice)  # only judges are missing
        self.done = replace(planned, failure=None, tampered=(), judges=(), kept="")
        if not self.is_played:
            self.done = replace(
                self.done,
                attempt=planned.attempt + 1,
                started_at_ms=time.time_ns() // 1_000_000,
                steps=(),
                thread=None,
                head=None,
                usage=Usage(),
                duration_ms=0,
            )
        self.phase = "fixture"
        self.space: TrialFolders | None = None
        self.client: Client | None = None
        self.is_set_up = False
        self.is_imported = self.is_played
        self.given: StepInput | None = None
        self.unable: Mapping[str, str] = {}

    def _word(self) -> str | None:
        """The agent of the trial."""
        if self.given is not None:
            cwd = self.context.settings.cwd
            return recorded.word_of(self.given, self.done.cell.agent, self.task, cwd)
        return agent_word(self.done.cell.agent, self.task, self.context.settings.cwd)

    def _folders(self) -> TrialFolders:
        if touched := self._touched():
            raise TreeError(
                f"the run's copy of the task was changed: {touched[0]}",
                hint="start a new run; an agent of an earlier trial may have changed it",
            )
        name = f"{self.done.number}.{self.done.attempt}"
        self.space = make_folders(self.context.settings.folder, self.done.run, name)
        return self.space

    def _prepare(self) -> TrialFolders:
        space = self._folders()
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

    def _touched(self) -> list[str]:
        """What was changed in the run's copy of the task."""
        stamps = self.context.settings.stamps[self.task.name]
        return tampering.touched(self.task.folder, stamps)

    def _run_commands(self, commands: Sequence[str], space: TrialFolders, cancel: Cancel) -> None:
        env = command_env(self.context.settings.env, self.task)
        run_commands(commands, self.task.command_timeout, space.work, env, cancel)

    def _run(self, space: TrialFolders) -> ThreadRun:
        self.phase = "unavailable"
        if self.given is not None:
            return self._run_step(space, self.given)
        cell = self.done.cell
        word = self._word()
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
        word = self._word()
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
