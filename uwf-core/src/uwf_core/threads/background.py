"""`--background`: a detached child runs the thread; the parent returns once it holds the lock."""

import os
import select
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import TYPE_CHECKING

from uwf_core.engine.context import RunOptions
from uwf_core.engine.find import find_thread
from uwf_core.engine.locking import nothing_to_run
from uwf_core.engine.report import printed_error, run_command
from uwf_core.engine.results import Outcome, errors_file, exec_document
from uwf_core.errors import ExitCode, StoreError, UsageError, UwfError
from uwf_core.ids import Ref, ThreadId
from uwf_core.process.detach import start_detached
from uwf_core.process.folders import make_folder
from uwf_core.thread.calls import head_at_call
from uwf_core.thread.head import read_head
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import holder_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

PATIENCE_SECONDS = 60.0
"""How long the child may take to acquire the lock."""


def run_in_background(
    engine: "Engine",
    command: str,
    word: str,
    options: RunOptions,
    texts: Mapping[str, str | None] = MappingProxyType({}),
    flags: Sequence[str] = (),
    cwd: str | None = None,
) -> Outcome:
    """Start a detached `uwf thread exec`, `resume` or `poke`; return once it holds the lock.

    If exec has nothing to run, none is started, and the outcome is that of exec.

    Args:
        engine: the engine.
        command: `exec`, `resume` or `poke`.
        word: the thread.
        options: how far to run, and how.
        texts: by option (`-p`), passed in files, since the arguments of a process are public.
        flags: options without a value.
        cwd: the folder of the process; None: that of this one.

    Raises:
        UsageError: another process cannot work as this one does.
        UwfError: what kept the child from running, with its own code and message.
        BusyError: another process runs the thread.
    """
    thread = find_thread(engine, word)
    rest = _rest(engine, thread) if command == "exec" else None
    if rest is not None:
        return rest
    environment = engine.process_env()
    if environment is None:
        raise UsageError(
            "this run needs this process: its store is not shared, or the program has set options",
            hint="run it without `background`",
        )
    reader, writer = os.pipe()
    with ExitStack() as files:
        files.callback(os.close, reader)
        try:
            errors = Path(errors_file(engine.home, thread))
            make_folder(str(errors.parent))
            old_bytes = errors.stat().st_size if errors.exists() else 0
            given = {
                name: _file_of(text, errors.parent, files) for name, text in texts.items() if text
            }
            words = [*run_command(command, thread, options), *flags]
            words += [] if engine.via == "cli" else ["--via", engine.via]
            for name, descriptor in given.items():
                words += [name, f"@/dev/fd/{descriptor}"]
            start_detached(
                [*words, "--format", "json", "--announce", str(writer)],
                cwd=cwd or engine.cwd,
                env=environment,
                stdout_path=None,
                stderr_path=str(errors),
                pass_fds=(writer, *given.values()),
            )
        finally:
            os.close(writer)
        if not _hears(reader):
            raise _why(thread, errors, old_bytes)
    head = read_head(engine.store, thread)
    return Outcome(exec_document(head, [], "running"), ExitCode.DONE)


def run_unattended(engine: "Engine", word: str) -> bool:
    """Continue a thread in a separate process, whose project is that of the thread's folder; False
    if another process was quicker. Raises as `run_in_background`.
    """
    folder = read_head(engine.store, find_thread(engine, word)).state.cwd
    options = RunOptions(until_done=True, unattended=True)
    cwd = folder if Path(folder).is_dir() else None
    try:
        run_in_background(engine, "exec", word, options, cwd=cwd)
    except UwfError as error:  # also what the other process has printed
        if error.exit_code != ExitCode.BUSY:
            raise
        return False
    return True


def _file_of(text: str, folder: Path, files: ExitStack) -> int:
    """The descriptor of a nameless file with this text; `folder` is private, `TMPDIR` need not be
    usable.
    """
    file = files.enter_context(TemporaryFile(dir=folder))  # noqa: SIM115 (the stack closes it)
    file.write(text.encode())
    file.seek(0)
    return file.fileno()


def _rest(engine: "Engine", thread: ThreadId) -> Outcome | None:
    if holder_of(engine.store, thread) is not None:
        return None  # the child names the holder
    head = read_head(engine.store, thread)
    state = effective(head.state, is_running=False, is_sound=head.damage is None)
    if engine.definition(Ref(state.workflow)).calls:
        state = head_at_call(engine.store, head._replace(state=state)).state
    return nothing_to_run(engine, head._replace(state=state))


def _hears(reader: int) -> bool:
    """Whether the child reports that it holds the lock; False if it ends without doing so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([reader], [], [], left)
        if ready:
            return bool(os.read(reader, 64))
    return False


def _why(thread: ThreadId, errors: Path, start: int) -> UwfError:
    """The error that the child printed on stderr, from byte `start` on, as our own."""
    try:
        printed = printed_error(errors.read_bytes()[start:])
    except OSError as error:
        return StoreError(f"cannot read the errors of the background run of {thread}: {error}")
    if isinstance(printed, UwfError):
        return printed
    return StoreError(
        f"the background run of {thread} ended before its first step: {printed}",
        hint=f"`uwf thread exec {thread}` shows the cause",
    )
