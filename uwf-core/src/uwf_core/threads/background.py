"""`exec --background`: a detached child runs the thread; the parent returns once it does."""

import json
import os
import select
import time
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.engine.find import find_thread
from uwf_core.engine.results import Outcome, exec_document
from uwf_core.engine.run import RunOptions, nothing_to_run
from uwf_core.engine.run_file import error_of, errors_file
from uwf_core.errors import ExitCode, StoreError, UwfError
from uwf_core.ids import ThreadId
from uwf_core.process.detach import start_detached
from uwf_core.process.own_python import own_python
from uwf_core.process.private import make_folder
from uwf_core.thread.head import read_head
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import holder_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

PATIENCE_SECONDS = 60.0
"""How long the child may take until it holds the lock."""


def exec_in_background(engine: "Engine", word: str, options: RunOptions) -> Outcome:
    """Start a detached `uwf thread exec` and return as soon as it holds the thread's lock.

    Where there is nothing to run, none is started, and the outcome is that of exec.

    Raises:
        UwfError: what kept the child from running, with its own code and message.
        BusyError: somebody runs the thread already.
    """
    thread = find_thread(engine, word)
    rest = _rest(engine, thread)
    if rest is not None:
        return rest
    reader, writer = os.pipe()
    try:
        errors = errors_file(engine.home, thread)
        make_folder(str(errors.parent))
        said_before = errors.stat().st_size if errors.exists() else 0
        start_detached(
            _arguments(thread, options, writer),
            cwd=engine.cwd,
            env=engine.env,
            stdout_path=None,
            stderr_path=str(errors),
            pass_fds=(writer,),
        )
    finally:
        os.close(writer)
    try:
        is_running = _hears(reader)
    finally:
        os.close(reader)
    if not is_running:
        raise _why(thread, errors, said_before)
    head = read_head(engine.store, thread)
    return Outcome(exec_document(head, [], "running"), ExitCode.DONE)


def _rest(engine: "Engine", thread: ThreadId) -> Outcome | None:
    if holder_of(engine.store, thread) is not None:
        return None  # the child says who
    head = read_head(engine.store, thread)
    state = effective(head.state, is_running=False, is_sound=head.damage is None)
    return nothing_to_run(head._replace(state=state))


def _arguments(thread: ThreadId, options: RunOptions, writer: int) -> list[str]:
    arguments = [*own_python("uwf_core", "thread", "exec", thread), "--format", "json"]
    how_far = ["--until-done"] if options.until_done else ["-c", str(options.steps)]
    arguments += ["--announce", str(writer), *how_far]
    if options.agent is not None:
        arguments += ["--agent", options.agent]
    if options.cwd is not None:
        arguments += ["--cwd", options.cwd]
    return arguments


def _hears(reader: int) -> bool:
    """Whether the child says that it holds the lock; False if it ends without a word."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([reader], [], [], left)
        if ready:
            return bool(os.read(reader, 64))
    return False


def _why(thread: ThreadId, errors: Path, start: int) -> UwfError:
    """What the child has said on stderr, from byte `start` on, as an error of our own."""
    try:
        lines = errors.read_bytes()[start:].decode(errors="replace").splitlines()
    except OSError as error:
        return StoreError(f"the background run of {thread} cannot be read: {error}")
    for line in reversed(lines):
        try:
            return error_of(json.loads(line)["error"])
        except (ValueError, KeyError, TypeError):
            continue
    return StoreError(
        f"the background run of {thread} ended before it began: {' '.join(lines[-3:])}",
        hint=f"`uwf thread exec {thread}` shows why",
    )
