"""Resume and poke a thread as a person or program asks: here, in the background, or by workers."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.engine.context import RunOptions
from uwf_core.threads.resume import Input, poke_thread, resume_thread
from uwf_core.threads.running import check_queue, handed_over

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel


def resume_steps(
    engine: "Engine",
    thread: str,
    said: Input,
    options: RunOptions,
    watch: "Watch",
    cancel: "Cancel",
    *,
    background: bool = False,
    queue: bool = False,
) -> "Outcome":
    """Resume a thread with what a person said. Errors as `resume_thread`, and as `exec_steps`."""
    answer: Any = said.answer
    if isinstance(answer, Mapping):
        said = said._replace(answer=json.dumps(answer))
    if queue:
        from uwf_core.threads.queued import queue_said

        check_queue(options, background=background)
        return handed_over(queue_said(engine, thread, said, watch, cancel, options.head), watch)
    if background:
        from uwf_core.threads.background import run_in_background

        texts = {
            "--prompt": said.text, "--answer": said.answer, "--grant": ",".join(said.grants)
        }  # fmt: skip
        flags = ["--without-answer"] if said.without_answer else []
        return run_in_background(engine, "resume", thread, options, texts, flags)
    return resume_thread(engine, thread, said, options, watch, cancel)


def poke_steps(
    engine: "Engine",
    thread: str,
    text: str,
    options: RunOptions,
    watch: "Watch",
    cancel: "Cancel",
    *,
    background: bool = False,
) -> "Outcome":
    """Run the head step again with a further instruction. Errors as `poke_thread`."""
    if background:
        from uwf_core.threads.background import run_in_background

        return run_in_background(engine, "poke", thread, options, {"--prompt": text})
    return poke_thread(engine, thread, text, options, watch, cancel)
