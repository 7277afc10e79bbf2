"""A worker: a process that runs one trial after the other, told by lines on its stdin.

Whatever plugins print goes to stderr: the channel of the answers is not theirs.
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
from uwf_eval.judges.launcher import hide
from uwf_eval.records import Trial
from uwf_eval.run import wire
from uwf_eval.run.process import line
from uwf_eval.store.shapes import read_payload
from uwf_eval.task.model import Task
from uwf_eval.trial.thread import Templates
from uwf_eval.trial.trial import TrialContext, run_trial

_STDOUT, _STDERR = 1, 2


class _Channel:
    """Where answers go; usable from several threads."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def say(self, **message: Any) -> None:
        with self._lock:
            self._stream.write(line(**message))
            self._stream.flush()


def main() -> None:
    """Run the trials that stdin names, until it is closed or the run is cancelled."""
    hide()  # what agents run may not answer in our place
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # whoever runs us says when to stop
    channel = _Channel(os.fdopen(os.dup(_STDOUT), "wb"))
    os.dup2(_STDERR, _STDOUT)
    cancel = Cancel()
    messages = _listen(cancel)
    try:
        _serve(messages, channel, cancel)
    except UwfError as error:
        channel.say(fault=wire.fault_out(error))
    except OSError as error:
        channel.say(fault=wire.fault_out(StoreError(str(error))))
    _leave(0)


def _listen(cancel: Cancel) -> Iterator[Mapping[str, Any]]:
    """The messages as they come; that of a cancel takes effect at once."""
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
        setting = wire.setting_in(first["setting"], dict(os.environ))
        with Client.open(env=setting.env, cwd=setting.cwd, beside=warm) as main_client:
            context = TrialContext(
                main=main_client,
                folder=setting.folder,
                templates=Templates(main_client),
                cwd=setting.cwd,
                env=setting.env,
                stamps=setting.stamps,
                cancel=cancel,
                notice=lambda text: channel.say(notice=text),
            )
            tasks = {task.name: task for task in setting.tasks}
            channel.say(ready=True)
            _run_trials(messages, context, tasks, channel)


def _run_trials(
    messages: Iterator[Mapping[str, Any]],
    context: TrialContext,
    tasks: Mapping[str, Task],
    channel: _Channel,
) -> None:
    for message in messages:
        planned = read_payload(Trial, message["trial"])
        if context.cancel.is_set():  # it has not begun, and is as it was
            channel.say(end=wire.end_out(wire.End(planned, None)))
            continue
        result = run_trial(context, tasks[planned.cell.task], planned)
        channel.say(end=wire.end_out(wire.End(result.trial, result.space)))
        if result.stuck:
            _leave(1)


def _warm_client() -> Client:
    """A client, once what a first trial needs is imported: the run is still being prepared."""
    from uwf_eval.judges import asking, catalog, context  # noqa: F401

    client = Client.open()
    client.installation.warm_up()
    return client


def _leave(code: int) -> NoReturn:
    """End the process, whatever threads of plugins do."""
    sys.stderr.flush()
    os._exit(code)
