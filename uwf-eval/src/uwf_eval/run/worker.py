"""The program of a worker: runs one trial after the other, controlled by lines on stdin.

Stdout is redirected to stderr, so that plugins cannot print into the channel of the messages.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from queue import SimpleQueue
from typing import IO, Any, NoReturn

from uwf_core.api import Cancel
from uwf_core.client import Client
from uwf_core.errors import StoreError, UwfError
from uwf_core.fields.records import read_payload
from uwf_eval.judges.launcher import hide
from uwf_eval.records import Trial
from uwf_eval.run.messages import decode_settings, encode_end, encode_error
from uwf_eval.run.worker_process import encode_line
from uwf_eval.task.model import Task
from uwf_eval.trial.folders import TrialResult
from uwf_eval.trial.playing import TrialContext
from uwf_eval.trial.thread import WorkflowCache
from uwf_eval.trial.trial import run_trial

_STDOUT, _STDERR = 1, 2


class _Channel:
    """Sends messages to the run; thread-safe."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, **message: Any) -> None:
        with self._lock:
            self._stream.write(encode_line(**message))
            self._stream.flush()


def main() -> None:
    """Run the trials that arrive on stdin, until it is closed or the run is cancelled."""
    hide()  # programs of agents must not answer instead of this process
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the run decides when to stop
    channel = _Channel(os.fdopen(os.dup(_STDOUT), "wb"))
    os.dup2(_STDERR, _STDOUT)
    cancel = Cancel()
    messages = _listen(cancel)
    try:
        _serve(messages, channel, cancel)
    except UwfError as error:
        channel.send(error=encode_error(error))
    except OSError as error:
        channel.send(error=encode_error(StoreError(str(error))))
    _leave(0)


def _listen(cancel: Cancel) -> Iterator[Mapping[str, Any]]:
    """The messages in order; a cancel takes effect at once."""
    queue: SimpleQueue[Mapping[str, Any] | None] = SimpleQueue()

    def read() -> None:
        for text in sys.stdin.buffer:
            message = json.loads(text)
            if "cancel" in message:
                cancel.set(message["cancel"])
            else:
                queue.put(message)
        cancel.set("the run has ended")
        queue.put(None)

    threading.Thread(target=read, daemon=True).start()
    return iter(queue.get, None)


def _serve(messages: Iterator[Mapping[str, Any]], channel: _Channel, cancel: Cancel) -> None:
    with _warm_client() as warm:
        first = next(messages, None)
        if first is None:
            return
        settings = decode_settings(first["settings"], dict(os.environ))
        # A run that is resumed in another folder has the plugins of its own project.
        beside = warm if str(settings.cwd) == os.getcwd() else None  # noqa: PTH109
        with Client.open(env=settings.env, cwd=settings.cwd, beside=beside) as main_client:
            context = TrialContext(
                main=main_client,
                settings=settings,
                templates=WorkflowCache(main_client),
                cancel=cancel,
                notice=lambda text: channel.send(notice=text),
            )
            tasks = {task.name: task for task in settings.tasks}
            channel.send(ready=True)
            _run_trials(messages, context, tasks, channel)


def _run_trials(
    messages: Iterator[Mapping[str, Any]],
    context: TrialContext,
    tasks: Mapping[str, Task],
    channel: _Channel,
) -> None:
    reaper = os.getppid()
    for message in messages:
        planned = read_payload(Trial, message["trial"])
        if context.cancel.is_set():  # not started, so it is unchanged
            channel.send(end=encode_end(TrialResult(planned, None)))
            continue
        result = run_trial(context, tasks[planned.cell.task], planned)
        if (
            os.getppid() != reaper
        ):  # killed, probably by the agent: so what this saw is not a result
            _leave(1)
        channel.send(end=encode_end(result))
        if result.stuck:
            _leave(1)


def _warm_client() -> Client:
    """Import what the first trial needs while the run is being prepared, and open a client."""
    from uwf_eval.judges import builtin_judges, context, run_judge  # noqa: F401

    client = Client.open()
    client.installation.warm_up()
    return client


def _leave(code: int) -> NoReturn:
    """End the process although threads of plugins may still run."""
    sys.stderr.flush()
    os._exit(code)
