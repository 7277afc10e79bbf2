"""Run a thread as a person or program asks: here, in the background, or by workers."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.engine.context import RunOptions
from uwf_core.errors import UsageError
from uwf_core.thread.lifecycle import Input

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel


def exec_steps(
    engine: "Engine", thread: str, options: RunOptions, watch: "Watch", cancel: "Cancel"
) -> "Outcome":
    """Run the next step (of branches as many as may run at a time), or as many as `options` say.

    With `background` a detached process runs it, and the call returns once that has the lock; with
    `queue` workers run it, and the call returns at once.

    Raises:
        UsageError: options that exclude each other. Else as `engine.run.exec_thread`.
    """
    if options.count is not None and not (isinstance(options.count, int) and options.count > 0):
        raise UsageError(f"{options.count!r} steps cannot be run", hint="give a count of 1 or more")
    if options.until_done and options.count is not None:
        raise UsageError(
            "-c and --until-done cannot be combined",
            hint="use -c N for N steps, --until-done for all steps",
        )
    if options.queue:
        from uwf_core.threads.queued import queue_thread

        return queue_thread(engine, thread, options, watch)
    if options.background:
        from uwf_core.threads.background import run_in_background

        return run_in_background(engine, "exec", thread, options)
    from uwf_core.engine.run import exec_thread

    return exec_thread(engine, thread, options, watch, cancel)


def resume_steps(
    engine: "Engine",
    thread: str,
    said: Input,
    options: RunOptions,
    watch: "Watch",
    cancel: "Cancel",
) -> "Outcome":
    """Resume a thread with what a person said. Errors as `resume_thread`, and as `exec_steps`."""
    answer: Any = said.answer
    if isinstance(answer, Mapping):
        said = said._replace(answer=json.dumps(answer))
    if options.queue:
        from uwf_core.threads.queued import queue_said

        return queue_said(engine, thread, said, options, watch, cancel)
    if options.background:
        from uwf_core.threads.background import run_in_background

        grants = ",".join(said.grants)
        texts = {"--prompt": said.text, "--answer": said.answer, "--grant": grants}
        flags = ["--without-answer"] if said.without_answer else []
        return run_in_background(engine, "resume", thread, options, texts, flags)
    from uwf_core.threads.resume import resume_thread

    return resume_thread(engine, thread, said, options, watch, cancel)


def poke_steps(
    engine: "Engine", thread: str, text: str, options: RunOptions, watch: "Watch", cancel: "Cancel"
) -> "Outcome":
    """Run the head step again with a further instruction. Errors as `poke_thread`."""
    if options.background:
        from uwf_core.threads.background import run_in_background

        return run_in_background(engine, "poke", thread, options, {"--prompt": text})
    from uwf_core.threads.resume import poke_thread

    return poke_thread(engine, thread, text, options, watch, cancel)
