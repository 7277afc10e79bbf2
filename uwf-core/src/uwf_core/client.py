"""The public way to drive uwf from Python.

    from uwf_core.client import Client

    with Client.open() as uwf:
        started = uwf.start("fix-bug", "The total is off by one.", cwd="shop")
        outcome = uwf.exec(started["thread"], until_done=True)
        print(outcome.document["status"], uwf.read(started["thread"]))

The methods return the documents that the commands print as JSON (`uwf_core.engine.documents`):
mappings with camelCase keys, times in ms since 1970. Errors are `uwf_core.errors`. A client belongs
to one thread of a program; several clients, and the `uwf` command, can share a store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from uwf_core.engine.engine import Engine, open_engine
from uwf_core.engine.installation import Installation
from uwf_core.engine.results import Listener
from uwf_core.ids import Ref
from uwf_core.process.cancel import Cancel
from uwf_core.upkeep.node_store import Name, NodeStore
from uwf_core.views.recorded import open_step, open_thread

if TYPE_CHECKING:
    from uwf_core.api.agent import Model
    from uwf_core.api.judge import Judge
    from uwf_core.api.reading import RecordedThread
    from uwf_core.engine.results import Outcome
    from uwf_core.replay.replay import ReplayDocument
    from uwf_core.threads.rerun import StepInput
    from uwf_core.threads.unattended import Unattended
    from uwf_core.views.thread_list import ThreadFilter

    # isort: off
    from uwf_core.engine.documents import (
        AnswerDocument, BundleDocument, CompactedDocument, ExecDocument, ImportDocument,
        RemovedDocument, StartedDocument, StepDocument, StepResult, StepRow, ThreadDocument,
        ThreadRow, TurnDocument,
    )  # fmt: skip
    # isort: on

__all__ = [
    "AnswerDocument", "BundleDocument", "Cancel", "Client", "CompactedDocument", "ExecDocument",
    "ImportDocument", "Name", "NodeStore", "Outcome", "RemovedDocument", "ReplayDocument",
    "StartedDocument", "StepDocument", "StepInput", "StepResult", "StepRow", "ThreadDocument",
    "ThreadFilter", "ThreadRow", "TurnDocument",
]  # fmt: skip

_HOME = {
    "Outcome": "uwf_core.engine.results",
    "ReplayDocument": "uwf_core.replay.replay",
    "StepInput": "uwf_core.threads.rerun",
    "ThreadFilter": "uwf_core.views.thread_list",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "uwf_core.engine.documents")), name)


class Client:
    """One user's uwf, seen from one folder. Make it with `Client.open`; close it, or use `with`."""

    def __init__(self, engine: Engine, watch: Listener) -> None:
        self._engine = engine
        self._watch = watch

    @classmethod
    def open(
        cls,
        *,
        home: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        store: str | None = None,
        default_agent: str | None = None,
        default_model: str | None = None,
        agent_options: Mapping[str, Any] | None = None,
        pass_env: Sequence[str] = (),
        durable: bool = True,
        beside: Client | None = None,
        on_event: Callable[[object], None] | None = None,
        on_notice: Callable[[str], None] | None = None,
    ) -> Self:
        """Create a client. Nothing is read before it is needed.

        Args:
            home: uwf's own folder; default: `UWF_HOME` of `env`, else `~/.uwf`.
            cwd: the base of relative paths; default: that of the process.
            env: the environment; default: that of the process.
            store: a store URL (`sqlite:/tmp/trial.db`, `memory:`) instead of the configured one.
            default_agent: the agent if nothing else selects one.
            default_model: the model of agents that use one of the configuration, by its name.
            agent_options: options of plugin agents that override the configuration's.
            pass_env: names of variables that every agent gets.
            durable: False does not wait for the disk; for a temporary store.
            beside: another client of this program, whose plugins and schemas are reused.
            on_event: gets the event records of `uwf_core.api` as they happen, from any thread.
            on_notice: gets lines for people.

        Raises:
            ConfigError: the home folder is unknown.
        """
        own = {} if home is None else {"UWF_HOME": str(home)}
        environment = {**(os.environ if env is None else env), **own}
        flags = {"store": store, "defaultAgent": default_agent, "defaultModel": default_model}
        engine = open_engine(
            env=environment,
            cwd=str(Path.cwd() if cwd is None else cwd),
            flags={key: value for key, value in flags.items() if value is not None},
            beside=None if beside is None else beside._engine,
            agent_options=agent_options,
            pass_env=pass_env,
            durable=durable,
        )
        return cls(engine, Listener(on_event, on_notice))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._engine.close()

    @property
    def home(self) -> Path:
        """uwf's own folder."""
        return Path(self._engine.home)

    @property
    def installation(self) -> Installation:
        """Information about plugins and configuration, without running anything."""
        return Installation(self._engine)

    @property
    def unattended(self) -> Unattended:
        """The threads of a program that runs them without a person."""
        from uwf_core.threads.unattended import Unattended

        return Unattended(self._engine, self._watch)

    @property
    def nodes(self) -> NodeStore:
        """The typed nodes and names of a program that uses uwf's store."""
        return NodeStore(self._engine)

    def add_workflow(self, file: str | os.PathLike[str], *, allow_programs: bool = False) -> Ref:
        """Check and publish a workflow file and register its name. With `allow_programs`, this
        version and all that it calls may run the programs of their roles. Raises DefinitionError,
        whose `problems` are all errors.
        """
        from uwf_core.engine.workflows import publish_file
        from uwf_core.workflow.registry import register

        ref = publish_file(self._engine, str(Path(self._engine.cwd, file)), self._watch)
        if self._engine.definition(ref).runs_programs:
            from uwf_core.engine.allowance import add_programs

            add_programs(self._engine, ref, self._watch.notice, allow=allow_programs)
        register(self._engine.store, self._engine.definition(ref).name, ref)
        return ref

    def find_workflow(self, word: str) -> Ref:
        """The published workflow of a name, file or reference. Errors as `uwf workflow show`."""
        from uwf_core.engine.workflows import find_workflow

        return find_workflow(self._engine, word, self._watch)

    def start(
        self,
        workflow: str,
        prompt: str,
        *,
        cwd: str | os.PathLike[str] = ".",
        agent: str | None = None,
        input: Mapping[str, Any] | str | None = None,
        bindings: Mapping[str, str] | None = None,
        limits: Mapping[str, float] | None = None,
    ) -> StartedDocument:
        """Start a thread, run nothing; as `StartOptions` says. Errors as `uwf thread start`."""
        from uwf_core.threads import start

        given = start.StartOptions(workflow, prompt, str(cwd), agent, input, bindings or {}, limits)
        return start.start_thread(self._engine, given, self._watch)

    def exec(
        self,
        thread: str,
        *,
        count: int | None = None,
        until_done: bool = False,
        agent: str | None = None,
        cwd: str | None = None,
        cancel: Cancel | None = None,
    ) -> Outcome:
        """Run the next step (of branches as many as may run at a time), or `count` steps; `cwd`
        replaces the thread's folder for this call. Errors as `uwf thread exec`.
        """
        from uwf_core.engine import run

        options = run.RunOptions(count, until_done, agent, cwd)
        return run.exec_thread(self._engine, thread, options, self._watch, cancel or Cancel())

    def resume(
        self,
        thread: str,
        text: str | None = None,
        *,
        answer: str | None = None,
        grant: str | None = None,
        until_done: bool = False,
        agent: str | None = None,
        cwd: str | None = None,
        cancel: Cancel | None = None,
    ) -> Outcome:
        """Resume a thread; `grant` as in `--grant` (`cost=5`). Errors as `uwf thread resume`."""
        from uwf_core.engine.run import RunOptions
        from uwf_core.threads.resume import Input, resume_thread

        said = Input(text, answer, () if grant is None else (grant,))
        options = RunOptions(until_done=until_done, agent=agent, cwd=cwd)
        return resume_thread(self._engine, thread, said, options, self._watch, cancel or Cancel())

    def poke(
        self,
        thread: str,
        text: str,
        *,
        until_done: bool = False,
        agent: str | None = None,
        cwd: str | None = None,
        cancel: Cancel | None = None,
    ) -> Outcome:
        """Run the head step again with a further instruction. Errors as `uwf thread poke`."""
        from uwf_core.engine.run import RunOptions
        from uwf_core.threads.resume import poke_thread

        options = RunOptions(until_done=until_done, agent=agent, cwd=cwd)
        return poke_thread(self._engine, thread, text, options, self._watch, cancel or Cancel())

    def fork(self, step: str, *, workflow: str | None = None) -> StartedDocument:
        """A new thread that shares the chain up to a step; `workflow` replaces the step's."""
        from uwf_core.threads import fork

        return fork.fork_step(self._engine, step, workflow, self._watch)

    def replay(self, thread: str, workflow: str | None = None) -> ReplayDocument:
        """The verdict on each recorded step, by its own or by another workflow; runs nothing."""
        from uwf_core.replay import replay

        changed = workflow and replay.read_changed(self._engine, workflow, self._watch)
        return replay.replay_thread(self._engine, thread, changed or None)

    def compact(
        self, thread: str, text: str | None = None, *, agent: str | None = None,
        up_to: str | None = None, cancel: Cancel | None = None,
    ) -> CompactedDocument:  # fmt: skip
        """Store a summary for new sessions. Errors as `threads.compact.compact_thread`."""
        from uwf_core.threads import compact

        given = compact.CompactOptions(text, agent, up_to)
        return compact.compact_thread(self._engine, thread, given, self._watch, cancel or Cancel())

    def stop(self, thread: str) -> ThreadDocument:
        """Stop the process that runs the thread."""
        from uwf_core.threads import control

        return control.stop_thread(self._engine, thread)

    def cancel(self, thread: str) -> ThreadDocument:
        """Cancel the thread permanently."""
        from uwf_core.threads import cancel

        return cancel.cancel_thread(self._engine, thread, self._watch)

    def wait(self, thread: str, timeout_s: float | None = None) -> Outcome:
        """Wait for the current run and return its result."""
        from uwf_core.threads import control

        return control.wait_thread(self._engine, thread, timeout_s)

    def remove(self, thread: str) -> RemovedDocument:
        """Remove a finished thread."""
        from uwf_core.threads import cancel

        return cancel.remove_thread(self._engine, thread)

    def export_thread(self, thread: str, file: str | os.PathLike[str]) -> BundleDocument:
        """Write a thread as a bundle. Errors as `uwf thread export`."""
        from uwf_core.upkeep import export_bundle

        return export_bundle.export_thread(self._engine, thread, str(file))

    def import_bundle(
        self, file: str | os.PathLike[str], *, dry_run: bool = False, as_new: bool = False
    ) -> ImportDocument:
        """Import a thread from a bundle: all of it, or nothing; `dry_run` changes nothing, and
        `as_new` gives a thread that exists a new id. Errors as `uwf cas import`.
        """
        from uwf_core.upkeep.import_bundle import ImportOptions, import_bundle

        options = ImportOptions(dry_run, as_new)
        return import_bundle(self._engine, str(Path(self._engine.cwd, file)), options)

    def show(self, thread: str) -> ThreadDocument:
        """The status of a thread."""
        from uwf_core.views import show

        return show.show_thread(self._engine, thread)

    def thread(self, thread: str) -> RecordedThread:
        """A thread as it is stored, each part read when it is asked for."""
        return open_thread(self._engine, thread)

    def list(self, wanted: ThreadFilter | None = None) -> Sequence[ThreadRow]:
        """Threads, newest first; by default with the finished ones."""
        from uwf_core.views import thread_list

        return thread_list.list_threads(self._engine, wanted or thread_list.ThreadFilter(all=True))

    def steps(self, thread: str) -> Sequence[StepRow]:
        """The steps of a thread in order; the first row is the start."""
        from uwf_core.views.steps import list_steps

        return list_steps(open_thread(self._engine, thread))

    def step(self, step: str) -> StepDocument:
        """A whole step, or failed attempt."""
        from uwf_core.views import steps

        return steps.show_step(open_step(self._engine, step))

    def turns(self, thread: str, role: str | None = None) -> Sequence[TurnDocument]:
        """All turns of a thread."""
        from uwf_core.views import turns

        return turns.list_turns(open_thread(self._engine, thread), role)

    def follow(self, thread: str, role: str | None = None) -> Iterator[TurnDocument]:
        """All turns so far, then those of the running step as they arrive."""
        from uwf_core.views import turns

        return turns.follow_turns(open_thread(self._engine, thread), role)

    def read(self, thread: str, quota: int | None = None, before: str | None = None) -> str:
        """The thread as Markdown."""
        from uwf_core.views import read

        return read.read_thread(open_thread(self._engine, thread), quota or read.QUOTA, before)

    def prompt(self, step: str) -> str:
        """The exact prompt of a step."""
        return open_step(self._engine, step).prompt

    def ask(
        self,
        step: str,
        text: str,
        *,
        agent: str | None = None,
        fork: bool = True,
        cancel: Cancel | None = None,
    ) -> AnswerDocument:
        """Ask the session of a past step; stores no step."""
        from uwf_core.threads import ask

        options = ask.AskOptions(text, agent, fork)
        return ask.ask_step(self._engine, step, options, self._watch, cancel or Cancel())

    def judge(
        self, name: str, options: Mapping[str, Any] | None = None, *, where: str = "options"
    ) -> Judge:
        """Open the judge of an installed plugin; `where` is the place of the options, for messages.

        Raises:
            PluginError, PluginBroken: it cannot be used. ConfigError: invalid options.
        """
        from uwf_core.engine import judging

        return judging.open_judge(self._engine, name, options or {}, where=where)

    @property
    def judge_model(self) -> Model | None:
        """The model that `modelOverrides.judge` names. Raises ConfigError if it is unknown."""
        from uwf_core.engine import judging

        return judging.judge_model(self._engine)
