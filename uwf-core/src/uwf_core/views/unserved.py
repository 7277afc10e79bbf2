"""Queued threads that no live worker can run: which labels are missing, and what to do."""

from collections.abc import Collection, Iterable, Sequence
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.api.dispatch import DispatchBackend, WorkerRow
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import open_below

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

MOST_UNSERVED = 1000
"""So many of them are listed."""

_LIVE = "running"
_ACTIONS = {
    "agent": "configure the agent {} for a worker, in `agents`",
    "program": "add {} to `worker.allowPrograms` of a worker",
    "host": "start a worker on {}",
}
"""What to do for a label, by the word before its colon."""


class Unserved(NamedTuple):
    """A thread that waits for a worker which does not exist.

    Attributes:
        thread: its id.
        missing: the labels that the best live worker lacks; all that it needs if none is live.
        message: the same for people, with what to do. command: starts a worker that has them,
            as far as options can give labels.
    """

    thread: str
    missing: Sequence[str]
    message: str
    command: str


def unserved_threads(engine: "Engine") -> list[Unserved]:
    """All of them; none in a store without workers."""
    backend = engine.backend
    if not isinstance(backend, DispatchBackend):
        return []
    rows = backend.waiting(MOST_UNSERVED, unserved=True)
    live = live_labels(backend.workers()) if rows else []
    return [unserved(row.thread, row.needs, live) for row in rows]


def live_labels(workers: Iterable[WorkerRow]) -> list[Sequence[str]]:
    """The labels of each live worker."""
    return [each.labels for each in workers if each.state == _LIVE]


def unserved(thread: str, needs: Sequence[str], live: Sequence[Sequence[str]]) -> Unserved:
    """What is missing for a thread that no worker of `live` can run."""
    lacking = (tuple(label for label in needs if label not in labels) for labels in live)
    missing = min(lacking, key=len, default=tuple(needs))
    if not live:
        message = "no worker is live"
        message += f"; the thread needs {', '.join(missing)}" if missing else ""
    else:
        message = f"no live worker has {', '.join(missing) or 'all that it needs'}"
        message += "".join(f"; {_action(label)}" for label in missing)
    given = [label for label in missing if label.partition(":")[0] not in _ACTIONS]
    command = " ".join(["uwf worker start", *(f"--label {quote(label)}" for label in given)])
    return Unserved(thread, missing, message, command)


def _action(label: str) -> str:
    kind, _, name = label.partition(":")
    if kind in _ACTIONS and name:
        return _ACTIONS[kind].format(name)
    return f"start a worker with --label {quote(label)}"


def unserved_below(engine: "Engine", thread: ThreadId) -> str:
    """Why no worker can run a thread, or one in its open calls; empty if one can."""
    threads = {thread, *open_below(engine.store, thread)}
    found = (each for each in unserved_threads(engine) if each.thread in threads)
    return next((f"thread {each.thread} waits: {each.message}" for each in found), "")


def queued_among(engine: "Engine", threads: Collection[ThreadId]) -> set[str]:
    """Those of `threads` that workers run, or will run."""
    backend = engine.backend
    if not threads or not isinstance(backend, DispatchBackend):
        return set()
    return backend.queued_among(threads)
