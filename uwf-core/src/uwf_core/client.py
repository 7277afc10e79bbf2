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

# ruff: noqa: F403, F405 (for type checkers: the names of `_HOME`)

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from uwf_core.engine.installation import Installation
from uwf_core.engine.open_engine import open_engine
from uwf_core.engine.watch import Listener
from uwf_core.ids import Ref, ThreadId
from uwf_core.maintenance.node_store import Name, NodeStore
from uwf_core.operations.generated import Operations
from uwf_core.process.cancel import Cancel
from uwf_core.views.recorded import RecordedThread, open_step, open_thread

_HOME = {
    "uwf_core.engine.bundle_documents": "BundleDocument ImportDocument",
    "uwf_core.engine.documents": "AnswerDocument CollectDocument CompactedDocument ExecDocument "
    "RemovedDocument StartedDocument StepDocument StepResult StepRow ThreadDocument ThreadRow "
    "TurnDocument UsageDocument VerifyDocument",
    "uwf_core.engine.file_documents": "FilesDocument",
    "uwf_core.engine.results": "Outcome",
    "uwf_core.replay.replay": "ReplayDocument",
    "uwf_core.threads.rerun": "StepInput",
    "uwf_core.threads.start": "StartOptions",
    "uwf_core.views.form": "FormDocument FormField FormVariant answer_of form_of",
    "uwf_core.views.inbox": "InboxItem",
    "uwf_core.views.step_files": "StepDiffDocument",
    "uwf_core.views.row": "ThreadFilter",
    "uwf_core.views.workflow_diff": "WorkflowDiffDocument",
    "uwf_core.views.workflows": "GraphDocument ProblemsDocument WorkflowRow",
    "uwf_core.views.worktree": "WorktreeDiffDocument",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = ["Cancel", "Client", "Name", "NodeStore", *sorted(_MODULE_OF)]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from uwf_core.api.judge import Judge
    from uwf_core.api.models import Model
    from uwf_core.engine.bundle_documents import *
    from uwf_core.engine.documents import *
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.file_documents import *
    from uwf_core.engine.results import *
    from uwf_core.replay.replay import *
    from uwf_core.threads.queued import QueuedThreads
    from uwf_core.threads.rerun import *
    from uwf_core.threads.start import *
    from uwf_core.threads.unattended import Unattended
    from uwf_core.views.form import *
    from uwf_core.views.inbox import *
    from uwf_core.views.row import *
    from uwf_core.views.step_files import *
    from uwf_core.views.workflow_diff import *
    from uwf_core.views.workflows import *
    from uwf_core.views.worktree import *


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def client_of(engine: Engine, notice: Callable[[str], None]) -> Client:
    """A client on an engine that is open, which is not closed with it."""
    return Client(engine, Listener(None, notice))


class Client(Operations):
    """One user's uwf, seen from one folder. Make it with `Client.open`; close it, or use `with`.

    Its methods are the operations of `uwf`, from one table, and a few that have no command.
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

        return judging.OpenJudge(self._engine, name, options or {}, where=where)

    @property
    def judge_model(self) -> Model | None:
        """The model that `modelOverrides.judge` names. Raises ConfigError if it is unknown."""
        from uwf_core.engine import judging

        return judging.judge_model(self._engine)

    # -- what has no command, or one with another form -------------------------------------------

    @property
    def home(self) -> Path:
        """uwf's own folder."""
        return Path(self._engine.home)

    @property
    def folder(self) -> Path:
        """The base of relative paths."""
        return Path(self._engine.cwd)

    @property
    def trusted_folders(self) -> Sequence[str]:
        """The folders that the user trusts. Raises ConfigError if the list cannot be read."""
        from uwf_core.config.trust import trusted_folders

        return trusted_folders(self._engine.home)

    @property
    def installation(self) -> Installation:
        """Information about plugins and configuration, without running anything."""
        return Installation(self._engine)

    def changes(self) -> int | None:
        """A number that differs from the previous one if others have written in between: a program
        that watches the store reads again then. None: this store cannot say.
        """
        return self._engine.store.changes()

    def thread(self, thread: str) -> RecordedThread:
        """A thread as it is stored, each part read when it is asked for."""
        return open_thread(self._engine, thread)

    def list(self, wanted: ThreadFilter | None = None) -> Sequence[ThreadRow]:
        """Threads, newest first; by default with the finished ones."""
        from uwf_core.views.row import ThreadFilter
        from uwf_core.views.thread_list import list_threads

        return list_threads(self._engine, wanted or ThreadFilter(all=True))

    def asks_person(self, thread: str) -> bool:
        """Whether a thread waits for a role that a person plays, not for what an agent asks."""
        from uwf_core.thread.head import read_head
        from uwf_core.threads.answer_checks import asks_person

        return asks_person(self._engine, read_head(self._engine.store, ThreadId(thread)))

    def place(self, word: str, what: str = "file") -> str:
        """A path as an absolute one without links, for a program whose users may name only what is
        in the client's folder and in `allowedFolders`; `what` it is, for messages.

        Raises:
            UsageError: it is outside, or is not a path.
        """
        from uwf_core.engine.location import named_place

        return named_place(self._engine, word, what)

    def follow(self, thread: str, role: str | None = None) -> Iterator[TurnDocument]:
        """All turns so far, then those of the running step as they arrive."""
        from uwf_core.views import steps

        return steps.follow_turns(open_thread(self._engine, thread), role)

    def prompt(self, step: str) -> str:
        """The exact prompt of a step."""
        return open_step(self._engine, step).prompt

    def step_file(self, step: str, path: str) -> bytes:
        """The content of a file that a step delivered, of at most 50 MB.

        Raises:
            UnknownIdError: the step delivered no file at this path.
        """
        from uwf_core.views import steps

        return steps.delivered_file(open_step(self._engine, step), path)

    def step_patch(self, step: str) -> str:
        """What a step changed in the files, as a patch. Errors as `uwf step diff`."""
        from uwf_core.views import step_files

        return step_files.patch_of_step(self._engine.home, open_step(self._engine, step))

    def worktree_diff(self, thread: str) -> tuple[WorktreeDiffDocument, str]:
        """What a thread has changed in its git worktree: the files, and a patch.

        Raises:
            WrongStateError: it has no worktree.
        """
        from uwf_core.views.worktree import WorktreeDiff

        found = WorktreeDiff(self._engine, thread)
        return found.document(), found.patch().decode(errors="replace")

    def replay(self, thread: str, workflow: str | None = None) -> ReplayDocument:
        """The verdict on each recorded step, by its own or by another workflow; runs nothing."""
        from uwf_core.replay import replay

        changed = workflow and replay.read_changed(self._engine, workflow, self._watch)
        return replay.replay_thread(self._engine, thread, changed or None)

    def export(self, thread: str, format: str) -> Iterator[bytes]:
        """A thread in the format of an exporter (`markdown`, `html`, a plugin's), part by part.
        Errors as `uwf thread export`.
        """
        from uwf_core.maintenance import export_format

        return export_format.export_parts(self._engine, thread, format)

    def find_workflow(self, word: str) -> Ref:
        """The published workflow of a word. Errors as `uwf workflow show`."""
        from uwf_core.engine.workflows import find_workflow

        return find_workflow(self._engine, word, self._watch)

    def check_workflow(self, file: str | os.PathLike[str]) -> ProblemsDocument:
        """Every problem of the file of a workflow; stores nothing. Takes a name, too.

        Raises:
            UsageError: the file cannot be read.
        """
        from uwf_core.engine.workflows import check_workflow, file_of
        from uwf_core.views.workflows import check_document

        place = Path(self._engine.cwd, file_of(self._engine, os.fspath(file)))
        checked = check_workflow(self._engine, str(place), self._watch.notice)
        return check_document([checked])

    def check_text(
        self, text: str, file: str | os.PathLike[str], *, quote_included: bool = True
    ) -> ProblemsDocument:
        """Every problem of the text of a workflow; stores nothing.

        Args:
            text: the text.
            file: its name in problems, and the base of its includes; it need not exist.
            quote_included: False describes problems that could quote another file in general
                words, so that nobody can read a file by including it in a text that they send.
        """
        from uwf_core.engine.workflows import check_workflow_text
        from uwf_core.views.workflows import check_document, unquoted_document

        place = str(Path(self._engine.cwd, file))
        checked = check_workflow_text(self._engine, text, place, self._watch.notice)
        return check_document([checked]) if quote_included else unquoted_document(checked)

    def fix_workflow(self, file: str | os.PathLike[str]) -> Mapping[str, Any]:
        """Fix what is mechanical in the file of a workflow; what was `fixed`, and the problems that
        are left. Errors as `uwf workflow check --fix`.
        """
        from uwf_core.engine.workflows import file_of, fix_workflow
        from uwf_core.views.workflows import check_document

        place = Path(self._engine.cwd, file_of(self._engine, os.fspath(file)))
        fixes, checked = fix_workflow(self._engine, str(place), self._watch.notice)
        return {**check_document([checked]), "fixed": [each.document() for each in fixes]}

    def workflow_of_text(self, text: str, file: str | os.PathLike[str]) -> Mapping[str, Any] | None:
        """The definition in a text, as `workflow` gives it without the bound; stores nothing. None
        if the text has an error or includes files. `file` as in `check_text`.
        """
        from uwf_core.engine.workflows import check_workflow_text
        from uwf_core.views.workflow_shape import shown_workflow

        place = str(Path(self._engine.cwd, file))
        checked = check_workflow_text(self._engine, text, place, self._watch.notice)
        if checked.workflow is None or checked.includes:
            return None
        return {"workflow": None, **shown_workflow(checked.workflow)}

    def withhold_programs(self, text: str, file: str | os.PathLike[str]) -> bool:
        """Before a program saves this text as `file` for a person: unless it surely runs no
        programs, let the trust in its folder allow none until `uwf config trust` is called again.
        Returns whether they are withheld.
        """
        from uwf_core.engine.program_permission import withhold_unless_plain
        from uwf_core.engine.workflows import check_workflow_text

        place = str(Path(self._engine.cwd, file))
        checked = check_workflow_text(self._engine, text, place, self._watch.notice)
        return withhold_unless_plain(self._engine, checked)

    def new_workflow(self, name: str, example: str | None = None) -> Mapping[str, str]:
        """The texts of the files that `uwf workflow new` writes, by name; writes nothing.

        Raises:
            UsageError: the name is not valid for a workflow. UnknownIdError: unknown example.
        """
        from uwf_core.examples.shelf import new_texts

        return new_texts(name, example)

    def cancel(self, thread: str, *, head: str | None = None) -> ThreadDocument:
        """Cancel the thread permanently."""
        from uwf_core.threads import cancel

        return cancel.cancel_thread(self._engine, thread, self._watch, head)

    def remove(self, thread: str) -> RemovedDocument:
        """Remove a finished thread."""
        from uwf_core.threads import cancel

        return cancel.remove_thread(self._engine, thread)

    def import_source(
        self, path: str | os.PathLike[str], *, dry_run: bool = False
    ) -> SourceDocument:
        """Import the threads and workflows that an importer finds in a file or folder of another
        program; `dry_run` changes nothing. Errors as `uwf cas import`.
        """
        from uwf_core.importers import import_source

        source = str(Path(self._engine.cwd, path))
        return import_source.import_source(self._engine, source, dry_run=dry_run)

    @staticmethod
    def verify_bundle(file: str | os.PathLike[str]) -> BundleDocument:
        """Verify a bundle; needs no client and no store. Errors as `uwf bundle verify`."""
        from uwf_core.maintenance import import_bundle

        return import_bundle.verify_bundle(file)

    def export_thread(
        self, thread: str, file: str | os.PathLike[str], *, with_files: bool = False
    ) -> BundleDocument:
        """Write a thread as a bundle, `with_files` with its recorded files. Errors as `uwf thread
        export`.
        """
        from uwf_core.maintenance import export_bundle

        return export_bundle.export_thread(self._engine, thread, str(file), with_files=with_files)
