"""The client's methods that act on threads: each is a command."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.driving.defining import WorkflowReader
from uwf_core.engine.context import RunOptions
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.results import Outcome

    # isort: off
    from uwf_core.engine.bundle_documents import BundleDocument, ImportDocument, SourceDocument
    from uwf_core.engine.documents import (
        AnswerDocument, CollectDocument, CompactedDocument, RemovedDocument, StartedDocument,
        ThreadDocument, VerifyDocument,
    )  # fmt: skip
    # isort: on


class ThreadDriver(WorkflowReader):
    """Also what starts, runs, answers and ends threads."""

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
        tags: Mapping[str, str] | None = None,
        thread: str | None = None,
        queue: bool = False,
    ) -> "StartedDocument":
        """Start a thread, run nothing; as `StartOptions` says. Errors as `uwf thread start`."""
        from uwf_core.threads import start

        given = start.StartOptions(
            workflow, prompt, str(cwd), agent, input, bindings or {}, limits, tags or {}, thread,
            queue,
        )  # fmt: skip
        return start.start_thread(self._engine, given, self._watch)

    def exec(
        self,
        thread: str,
        *,
        count: int | None = None,
        until_done: bool = False,
        agent: str | None = None,
        cwd: str | None = None,
        head: str | None = None,
        background: bool = False,
        queue: bool = False,
        cancel: Cancel | None = None,
    ) -> "Outcome":
        """Run the next step (of branches as many as may run at a time), or `count` steps; `cwd`
        replaces the thread's folder for this call. Errors as `uwf thread exec`.

        Here and below: with `background` a detached process runs it, and the call returns once that
        has the lock; with `queue` workers run it, and the call returns at once; `head` is the
        reference that the thread's head must have.
        """
        from uwf_core.engine import run

        if queue:
            from uwf_core.threads.queued import queue_thread

            return queue_thread(self._engine, thread, self._watch, head)

        options = RunOptions(count, until_done, agent, cwd, head=head)
        if background:
            return self._in_background("exec", thread, options)
        return run.exec_thread(self._engine, thread, options, self._watch, cancel or Cancel())

    def resume(
        self,
        thread: str,
        text: str | None = None,
        *,
        answer: str | Mapping[str, Any] | None = None,
        grant: str | None = None,
        without_answer: bool = False,
        until_done: bool = False,
        agent: str | None = None,
        cwd: str | None = None,
        head: str | None = None,
        background: bool = False,
        queue: bool = False,
        cancel: Cancel | None = None,
    ) -> "Outcome":
        """Resume a thread; `grant` as in `--grant` (`cost=5`). A role that asks needs an answer, or
        `without_answer`. Errors as `uwf thread resume`.
        """
        from uwf_core.threads.resume import Input, resume_thread

        if isinstance(answer, Mapping):
            answer = json.dumps(answer)
        said = Input(text, answer, () if grant is None else (grant,), without_answer)
        options = RunOptions(until_done=until_done, agent=agent, cwd=cwd, head=head)
        if queue:
            from uwf_core.threads.queued import queue_said

            stop = cancel or Cancel()
            return queue_said(self._engine, thread, said, self._watch, stop, head)
        if background:
            texts = {"--prompt": text, "--answer": answer, "--grant": grant}
            flags = ["--without-answer"] if without_answer else []
            return self._in_background("resume", thread, options, texts, flags)
        return resume_thread(self._engine, thread, said, options, self._watch, cancel or Cancel())

    def poke(
        self,
        thread: str,
        text: str,
        *,
        until_done: bool = False,
        agent: str | None = None,
        cwd: str | None = None,
        head: str | None = None,
        background: bool = False,
        cancel: Cancel | None = None,
    ) -> "Outcome":
        """Run the head step again with a further instruction. Errors as `uwf thread poke`."""
        from uwf_core.threads.resume import poke_thread

        options = RunOptions(until_done=until_done, agent=agent, cwd=cwd, head=head)
        if background:
            return self._in_background("poke", thread, options, {"--prompt": text})
        return poke_thread(self._engine, thread, text, options, self._watch, cancel or Cancel())

    def _in_background(
        self,
        command: str,
        thread: str,
        options: "RunOptions",
        texts: Mapping[str, str | None] | None = None,
        flags: Sequence[str] = (),
    ) -> "Outcome":
        from uwf_core.threads.background import run_in_background

        return run_in_background(self._engine, command, thread, options, texts or {}, flags)

    def fork(self, step: str, *, workflow: str | None = None) -> "StartedDocument":
        """A new thread that shares the chain up to a step; `workflow` replaces the step's."""
        from uwf_core.threads import fork

        return fork.fork_step(self._engine, step, workflow, self._watch)

    def compact(
        self, thread: str, text: str | None = None, *, agent: str | None = None,
        up_to: str | None = None, cancel: Cancel | None = None,
    ) -> "CompactedDocument":  # fmt: skip
        """Store a summary for new sessions. Errors as `threads.compact.compact_thread`."""
        from uwf_core.threads import compact

        given = compact.CompactOptions(text, agent, up_to)
        return compact.compact_thread(self._engine, thread, given, self._watch, cancel or Cancel())

    def ask(
        self,
        step: str,
        text: str,
        *,
        agent: str | None = None,
        fork: bool = True,
        cancel: Cancel | None = None,
    ) -> "AnswerDocument":
        """Ask the session of a past step; stores no step."""
        from uwf_core.threads import ask

        options = ask.AskOptions(text, agent, fork)
        return ask.ask_step(self._engine, step, options, self._watch, cancel or Cancel())

    def tag(self, thread: str, tags: Mapping[str, str]) -> "ThreadDocument":
        """Give a thread tags; an empty text removes one. Errors as `uwf thread tag`."""
        from uwf_core.threads import tagging

        return tagging.tag_thread(self._engine, thread, tags, self._watch)

    def stop(self, thread: str, *, head: str | None = None) -> "ThreadDocument":
        """Stop the process that runs the thread."""
        from uwf_core.threads import control

        return control.stop_thread(self._engine, thread, head)

    def cancel(self, thread: str, *, head: str | None = None) -> "ThreadDocument":
        """Cancel the thread permanently."""
        from uwf_core.threads import cancel

        return cancel.cancel_thread(self._engine, thread, self._watch, head)

    def wait(self, thread: str, timeout_s: float | None = None) -> "Outcome":
        """Wait for the current run and return its result."""
        from uwf_core.threads import control

        return control.wait_thread(self._engine, thread, timeout_s)

    def remove(self, thread: str) -> "RemovedDocument":
        """Remove a finished thread."""
        from uwf_core.threads import cancel

        return cancel.remove_thread(self._engine, thread)

    def export_thread(
        self, thread: str, file: str | os.PathLike[str], *, with_files: bool = False
    ) -> "BundleDocument":
        """Write a thread as a bundle, `with_files` with its recorded files. Errors as `uwf thread
        export`.
        """
        from uwf_core.maintenance import export_bundle

        return export_bundle.export_thread(self._engine, thread, str(file), with_files=with_files)

    def import_bundle(
        self, file: str | os.PathLike[str], *, dry_run: bool = False, as_new: bool = False
    ) -> "ImportDocument":
        """Import a thread from a bundle: all of it, or nothing; `dry_run` changes nothing, and
        `as_new` gives a thread that exists a new id. Errors as `uwf cas import`.
        """
        from uwf_core.maintenance.import_bundle import ImportOptions, import_bundle

        options = ImportOptions(dry_run, as_new)
        return import_bundle(self._engine, str(Path(self._engine.cwd, file)), options)

    def import_source(
        self, path: str | os.PathLike[str], *, dry_run: bool = False
    ) -> "SourceDocument":
        """Import the threads and workflows that an importer finds in a file or folder of another
        program; `dry_run` changes nothing. Errors as `uwf cas import`.
        """
        from uwf_core.importers import import_source

        source = str(Path(self._engine.cwd, path))
        return import_source.import_source(self._engine, source, dry_run=dry_run)

    @staticmethod
    def verify_bundle(file: str | os.PathLike[str]) -> "BundleDocument":
        """Check a bundle completely; needs no store. Errors as `uwf bundle verify`."""
        from uwf_core.maintenance import import_bundle

        return import_bundle.verify_bundle(os.fspath(file))

    # -- the store ---------------------------------------------------------------------------------

    def verify(
        self, word: str | None = None, *, repair: bool = False, bundle: str | None = None
    ) -> "VerifyDocument":
        """Verify the store, or one thread or node. Errors as `uwf cas verify`."""
        from uwf_core.maintenance import repair as repairing

        options = repairing.VerifyOptions(word, repair, bundle)
        return repairing.verify_store(self._engine, options)

    def collect_garbage(
        self, grace_seconds: float = 86_400, *, dry_run: bool = False
    ) -> "CollectDocument":
        """Delete nodes that no name reaches, but for the newest. Errors as `uwf cas gc`."""
        from uwf_core.maintenance import gc

        return gc.collect_garbage(self._engine, gc.CollectOptions(grace_seconds, dry_run))
