"""The part of notices that a run has: it marks its thread, and starts the sender at its end."""

# Loaded by runs: pathlib is not imported for that.
# ruff: noqa: PTH105, PTH108, PTH118, PTH208

import os
from typing import TYPE_CHECKING
from zlib import crc32

from uwf_core.ids import ThreadId
from uwf_core.process.folders import make_folder
from uwf_core.thread.lock import holder_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

FOLDER = "notices"
DUE = "due"
SENT = "sent"
SINCE = "since"


def mark_due(engine: "Engine", thread: str, about: str = "") -> None:
    """Mark a thread before it runs: its events may have to be sent. Or have a person reminded that
    it waits, `about` what. Never fails a run.
    """
    folder = os.path.join(engine.home, FOLDER)
    try:
        for each in (DUE, SENT):
            make_folder(os.path.join(folder, each))
        _write_once(os.path.join(folder, SINCE), str(engine.now_ms()))
        draft = os.path.join(folder, f".{thread}.{os.getpid()}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(about)
        # A new file: a sender that is about to remove the old one sees that it is another.
        os.replace(draft, os.path.join(folder, DUE, f"{thread}.{store_mark(engine)}"))
    except OSError as error:
        engine.report_fault(f"the events of thread {thread} will not be sent: {error}")


def send_soon(engine: "Engine") -> None:
    """Start the process that sends what is due, unless nothing is; it outlives this one. Never
    fails a run.
    """
    engine.has_sent_notices = True
    if not due_threads(engine.home, store_mark(engine)):
        return
    from uwf_core.process.detach import start_detached
    from uwf_core.process.leftovers import ATTEMPT_VARIABLE
    from uwf_core.process.own_python import own_python

    env = engine.process_env()
    if env is None:
        return
    own = {name: value for name, value in env.items() if name != ATTEMPT_VARIABLE}
    try:
        start_detached(
            own_python("uwf_core.notices"),
            cwd=engine.home,
            env={**own, "UWF_HOME": engine.home, "UWF_STORE": engine.settings.store},
            stderr_path=os.path.join(engine.home, FOLDER, "errors"),
        )
    except Exception as error:
        engine.report_fault(f"the notices could not be sent: {error}")


def send_left(engine: "Engine") -> None:
    """The same for what an earlier sender has left; a thread that runs is left to the end of its
    run.
    """
    due = due_threads(engine.home, store_mark(engine))
    if any(not ThreadId.matches(e) or holder_of(engine.store, ThreadId(e)) is None for e in due):
        send_soon(engine)


def due_threads(home: str, mark: str) -> list[str]:
    """The threads of a store that may have events to send."""
    try:
        names = os.listdir(os.path.join(home, FOLDER, DUE))
    except OSError:  # there is no such folder where nothing was ever due
        return []
    return sorted(name.partition(".")[0] for name in names if name.endswith(f".{mark}"))


def forget_notices(home: str, thread: str) -> None:
    """Delete what is known of the notices of a removed thread."""
    try:  # noqa: SIM105 (contextlib is not needed here)
        os.unlink(os.path.join(home, FOLDER, SENT, thread))
    except OSError:
        pass  # it has none


def store_mark(engine: "Engine") -> str:
    """What distinguishes the threads of this store from those of others with the same home."""
    return f"{crc32(engine.settings.store.encode()):08x}"


def _write_once(path: str, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with open(descriptor, "w") as file:
        file.write(text)
