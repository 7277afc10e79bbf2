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
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from uwf_core.driving.acting import ThreadDriver
from uwf_core.engine.open_engine import open_engine
from uwf_core.engine.watch import Listener
from uwf_core.maintenance.node_store import Name, NodeStore
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    from uwf_core.api.agent import Model
    from uwf_core.api.judge import Judge
    from uwf_core.engine.results import Outcome
    from uwf_core.replay.replay import ReplayDocument
    from uwf_core.threads.queued import QueuedThreads
    from uwf_core.threads.rerun import StepInput
    from uwf_core.threads.unattended import Unattended
    from uwf_core.views.diff.documents import ThreadDiffDocument
    from uwf_core.views.form import FormDocument, FormField, FormVariant, answer_of, form_of
    from uwf_core.views.inbox import InboxItem
    from uwf_core.views.step_files import StepDiffDocument
    from uwf_core.views.thread_list import ThreadFilter
    from uwf_core.views.workflow_diff import WorkflowDiffDocument
    from uwf_core.views.workflows import GraphDocument, ProblemsDocument, WorkflowRow
    from uwf_core.views.worktree import WorktreeDiffDocument

    # isort: off
    from uwf_core.engine.bundle_documents import BundleDocument, ImportDocument
    from uwf_core.engine.documents import (
        AnswerDocument, CollectDocument, CompactedDocument, ExecDocument, RemovedDocument,
        StartedDocument, StepDocument, StepResult, StepRow, ThreadDocument, ThreadRow,
        TurnDocument, UsageDocument, VerifyDocument,
    )  # fmt: skip
    from uwf_core.engine.file_documents import FilesDocument
    # isort: on

__all__ = [
    "AnswerDocument", "BundleDocument", "Cancel", "Client", "CollectDocument",
    "CompactedDocument", "ExecDocument", "FilesDocument", "FormDocument", "FormField",
    "FormVariant", "GraphDocument", "ImportDocument", "InboxItem", "Name", "NodeStore", "Outcome",
    "ProblemsDocument", "RemovedDocument", "ReplayDocument", "StartedDocument",
    "StepDiffDocument", "StepDocument", "StepInput", "StepResult", "StepRow",
    "ThreadDiffDocument", "ThreadDocument", "ThreadFilter", "ThreadRow", "TurnDocument",
    "UsageDocument", "VerifyDocument", "WorkflowDiffDocument", "WorkflowRow",
    "WorktreeDiffDocument", "answer_of", "form_of",
]  # fmt: skip

_HOME = {
    "BundleDocument": "uwf_core.engine.bundle_documents",
    "ImportDocument": "uwf_core.engine.bundle_documents",
    "ProblemsDocument": "uwf_core.views.workflows",
    "FilesDocument": "uwf_core.engine.file_documents",
    "FormDocument": "uwf_core.views.form",
    "FormField": "uwf_core.views.form",
    "FormVariant": "uwf_core.views.form",
    "GraphDocument": "uwf_core.views.workflows",
    "InboxItem": "uwf_core.views.inbox",
    "Outcome": "uwf_core.engine.results",
    "ReplayDocument": "uwf_core.replay.replay",
    "StepDiffDocument": "uwf_core.views.step_files",
    "StepInput": "uwf_core.threads.rerun",
    "ThreadDiffDocument": "uwf_core.views.diff.documents",
    "ThreadFilter": "uwf_core.views.thread_list",
    "WorkflowDiffDocument": "uwf_core.views.workflow_diff",
    "WorkflowRow": "uwf_core.views.workflows",
    "WorktreeDiffDocument": "uwf_core.views.worktree",
    "answer_of": "uwf_core.views.form",
    "form_of": "uwf_core.views.form",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "uwf_core.engine.documents")), name)


class Client(ThreadDriver):
    """One user's uwf, seen from one folder. Make it with `Client.open`; close it, or use `with`.

    `uwf_core.driving` has its other methods: what reads threads, what is about workflows, and what
    acts on threads.
    """

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
        via: str = "python",
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
            via: where a person acts, as answers, pokes, grants and cancellations record it.
            on_event: gets the event records of `uwf_core.api` as they happen, from any thread.
            on_notice: gets lines for people, from any thread: also about settings that are
                ignored, and about observers that fail.

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
            via=via,
            on_fault=None if on_notice is None else lambda fault: on_notice(f"{fault}"),
        )
        return cls(engine, Listener(on_event, on_notice))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._engine.close()

    def send_notices(self) -> None:
        """Start a separate process for the notices that an earlier sender has left, if there are
        some, as each command does: for a program that runs for long. Raises StoreError.
        """
        from uwf_core.engine.notices import send_left

        send_left(self._engine)

    @property
    def unattended(self) -> Unattended:
        """The threads of a program that runs them without a person."""
        from uwf_core.threads.unattended import Unattended

        return Unattended(self._engine, self._watch)

    @property
    def queued(self) -> QueuedThreads:
        """The threads that workers run, for a worker."""
        from uwf_core.threads.queued import QueuedThreads

        return QueuedThreads(self._engine, self._watch)

    @property
    def nodes(self) -> NodeStore:
        """The typed nodes and names of a program that uses uwf's store."""
        return NodeStore(self._engine)

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
