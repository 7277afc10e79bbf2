"""The client's methods that read threads. They take no lock and store nothing."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.engine.engine import Engine
from uwf_core.engine.find import find_step
from uwf_core.engine.installation import Installation
from uwf_core.engine.watch import Listener
from uwf_core.ids import Ref
from uwf_core.views.recorded import open_step, open_thread

if TYPE_CHECKING:
    from uwf_core.api.reading import RecordedThread
    from uwf_core.maintenance.agent_ready import Readiness
    from uwf_core.replay.replay import ReplayDocument
    from uwf_core.views.diff.documents import ThreadDiffDocument
    from uwf_core.views.inbox import InboxItem
    from uwf_core.views.installed import AgentRow
    from uwf_core.views.step_files import StepDiffDocument
    from uwf_core.views.thread_list import ThreadFilter
    from uwf_core.views.worktree import WorktreeDiffDocument

    # isort: off
    from uwf_core.engine.documents import (
        StepDocument, StepRow, ThreadDocument, ThreadRow, TurnDocument, UsageDocument,
    )  # fmt: skip
    from uwf_core.engine.file_documents import FilesDocument
    # isort: on


class ThreadReader:
    """What can be read from a store, seen from one folder."""

    def __init__(self, engine: Engine, watch: Listener) -> None:
        self._engine = engine
        self._watch = watch

    @property
    def home(self) -> Path:
        """uwf's own folder."""
        return Path(self._engine.home)

    @property
    def folder(self) -> Path:
        """The base of relative paths."""
        return Path(self._engine.cwd)

    @property
    def trusted_folders(self) -> "Sequence[str]":
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

    def agents(self) -> "Sequence[AgentRow]":
        """The agents that can be named, as `uwf agent list` prints them; loads none."""
        from uwf_core.views.installed import agent_rows

        return list(agent_rows(self._engine))

    def check_agent(self, agent: str, *, trial: bool = False) -> "Readiness":
        """Whether an agent is ready, as `uwf agent check` prints it: it is loaded, created and
        checked in a child process. `trial`: also with one small request to its model.
        """
        from uwf_core.maintenance.agent_ready import agent_readiness

        return agent_readiness(self._engine, agent, trial=trial)

    def plugins(self) -> Sequence[Mapping[str, Any]]:
        """All plugins with their status, as `uwf plugin list` prints them; loads none."""
        from uwf_core.views.installed import plugin_rows

        return plugin_rows(self._engine.plugins, all_=False)

    # -- a thread ----------------------------------------------------------------------------------

    def show(self, thread: str) -> "ThreadDocument":
        """The status of a thread."""
        from uwf_core.views import show

        return show.show_thread(self._engine, thread)

    def thread(self, thread: str) -> "RecordedThread":
        """A thread as it is stored, each part read when it is asked for."""
        return open_thread(self._engine, thread)

    def list(self, wanted: "ThreadFilter | None" = None) -> "Sequence[ThreadRow]":
        """Threads, newest first; by default with the finished ones."""
        from uwf_core.views import thread_list

        return thread_list.list_threads(self._engine, wanted or thread_list.ThreadFilter(all=True))

    def inbox(self, thread: str | None = None) -> "Sequence[InboxItem]":
        """What waits for a person, the longest wait first; or only that in a thread and those that
        it called, in their order. `form_of` makes a form of an item's schema,
        `resume(item["thread"], answer=..., head=item["head"])` answers it.
        """
        from uwf_core.views import inbox

        if thread is None:
            return inbox.inbox(self._engine)
        return inbox.waiting_in(self._engine, thread)

    def read(self, thread: str, quota: int | None = None, before: str | None = None) -> str:
        """The thread as Markdown."""
        from uwf_core.views import read

        return read.read_thread(open_thread(self._engine, thread), quota or read.QUOTA, before)

    def turns(
        self, thread: str, role: str | None = None, *, running: bool = False
    ) -> "Sequence[TurnDocument]":
        """All turns of a thread; `running`: only those of the step that runs now."""
        from uwf_core.views import turns

        return turns.list_turns(open_thread(self._engine, thread), role, running=running)

    def follow(self, thread: str, role: str | None = None) -> "Iterator[TurnDocument]":
        """All turns so far, then those of the running step as they arrive."""
        from uwf_core.views import turns

        return turns.follow_turns(open_thread(self._engine, thread), role)

    def usage(
        self,
        thread: str | None = None,
        *,
        workflow: str | None = None,
        since_ms: int | None = None,
        by: str = "role",
    ) -> "UsageDocument":
        """What a thread, or all threads of a filter, have used. `by`: role, agent, model, workflow.

        Raises:
            UnknownIdError: unknown thread, or no thread has the workflow.
        """
        from uwf_core.views.usage import UsageFilter, usage_of

        return usage_of(self._engine, UsageFilter(thread, workflow, since_ms), by)

    # -- its steps ---------------------------------------------------------------------------------

    def steps(self, thread: str) -> "Sequence[StepRow]":
        """The steps of a thread in order; the first row is the start."""
        from uwf_core.views.steps import list_steps

        return list_steps(open_thread(self._engine, thread))

    def step(self, step: str) -> "StepDocument":
        """A whole step, or failed attempt."""
        from uwf_core.views import steps

        return steps.show_step(open_step(self._engine, step))

    def prompt(self, step: str) -> str:
        """The exact prompt of a step."""
        return open_step(self._engine, step).prompt

    def step_files(self, step: str) -> "FilesDocument":
        """The files that a step delivered."""
        from uwf_core.views import steps

        return steps.step_files(open_step(self._engine, step), None, force=False)

    def step_file(self, step: str, path: str) -> bytes:
        """The content of a file that a step delivered, of at most 50 MB.

        Raises:
            UnknownIdError: the step delivered no file at this path.
        """
        from uwf_core.views import steps

        return steps.delivered_file(open_step(self._engine, step), path)

    def step_diff(self, step: str) -> "StepDiffDocument":
        """The paths that a step changed. Errors as `uwf step diff`."""
        from uwf_core.views import step_files

        return step_files.diff_step(self._engine.home, open_step(self._engine, step))

    def step_patch(self, step: str) -> str:
        """What a step changed in the files, as a patch. Errors as `uwf step diff`."""
        from uwf_core.views import step_files

        return step_files.patch_of_step(self._engine.home, open_step(self._engine, step))

    def node(self, ref: str) -> Mapping[str, Any]:
        """A node of the store: type, payload, and when it was stored.

        Raises:
            MissingNodeError, CorruptNodeError: it is missing or damaged.
        """
        from uwf_core.views.node import show_node

        return show_node(self._engine, Ref.parse(ref))

    # -- compared and explained --------------------------------------------------------------------

    def diff(self, a: str, b: str) -> "ThreadDiffDocument":
        """Two threads, aligned, with their first divergence. Errors as `uwf thread diff`."""
        from uwf_core.views.diff.compare import compare

        return compare(open_thread(self._engine, a), open_thread(self._engine, b))

    def worktree_diff(self, thread: str) -> "tuple[WorktreeDiffDocument, str]":
        """What a thread has changed in its git worktree: the files, and a patch.

        Raises:
            WrongStateError: it has no worktree.
        """
        from uwf_core.views.worktree import WorktreeDiff

        found = WorktreeDiff(self._engine, thread)
        return found.document(), found.patch().decode(errors="replace")

    def why(self, thread: str, step: str | None = None) -> Mapping[str, Any]:
        """Why a thread went as it did: sections of statements with the nodes that prove them."""
        from uwf_core.views.why.document import why_document
        from uwf_core.views.why.page import why_page

        one = None if step is None else find_step(self._engine, step)
        return why_document(why_page(open_thread(self._engine, thread), one))

    def replay(self, thread: str, workflow: str | None = None) -> "ReplayDocument":
        """The verdict on each recorded step, by its own or by another workflow; runs nothing."""
        from uwf_core.replay import replay

        changed = workflow and replay.read_changed(self._engine, workflow, self._watch)
        return replay.replay_thread(self._engine, thread, changed or None)

    def export(self, thread: str, format: str) -> "Iterator[bytes]":
        """A thread in the format of an exporter (`markdown`, `html`, a plugin's), part by part.
        Errors as `uwf thread export`.
        """
        from uwf_core.maintenance import export_format

        return export_format.export_parts(self._engine, thread, format)
