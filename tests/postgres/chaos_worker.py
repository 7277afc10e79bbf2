"""A worker whose acknowledged and refused steps are written down, for the proofs.

    python chaos_worker.py LOG ENGINE [alone]

With `alone` it is a worker. Else it forks one for each line `start` that it reads, and prints its
process id; `poll PID` prints how that one ended, or `None`. So a new worker costs no imports.

Each line of LOG is one of these; PROCESS is that of the worker:

    claim PROCESS THREAD            before the thread is run
    ack PROCESS THREAD NUMBER STEP  after the commit of a step
    refused PROCESS THREAD          a step came too late
    said …
"""

import os
import signal
import sys
import time
import traceback

from uwf_core.api import StepFinished
from uwf_core.client import Client
from uwf_store_postgres.place import place_of
from uwf_worker.engines.engine import EngineError
from uwf_worker.engines.memory import MemoryEngine
from uwf_worker.engines.procrastinate import ProcrastinateEngine
from uwf_worker.worker import Worker, WorkerOptions


def nursery(log: str, engine: str) -> None:
    """Start and bury workers until the input ends."""
    while line := sys.stdin.readline():
        kind, *words = line.split()
        if kind == "start":
            said = os.fork()
            if not said:
                os.close(0)
                os.close(1)
                os._exit(worked(log, engine))
        else:
            pid, status = os.waitpid(int(words[0]), os.WNOHANG)
            said = os.waitstatus_to_exitcode(status) if pid else None
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()


def worked(log: str, engine: str) -> int:
    """The exit code of a worker."""
    try:
        main(log, engine)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main(log: str, engine: str) -> None:
    """Work until SIGTERM."""
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(line: str) -> None:
        os.write(out, f"{line}\n".encode())

    def event(found: object) -> None:
        if isinstance(found, StepFinished):
            write(f"ack {os.getpid()} {found.thread} {found.number} {found.step}")

    def say(line: str) -> None:
        write(f"said {line}")
        if "another process" in line:
            write(f"refused {os.getpid()} {line.split()[1].rstrip(':')}")

    while True:
        try:
            work(engine, event, say, write)
            return
        except Exception as error:  # the server may be down while it starts
            say(f"start: {type(error).__name__}: {error}")
            time.sleep(0.3)


class Recorded(Worker):
    """A worker that writes down what it claims."""

    def _run(self, claim):
        self.write(f"claim {os.getpid()} {claim.thread}")
        return super()._run(claim)


def work(engine: str, event, say, write) -> None:
    """Open everything and work."""
    with Client.open(on_event=event) as client:
        place = place_of(client.queued.store_url)
        queue = MemoryEngine()
        if engine == "procrastinate":
            try:
                queue = ProcrastinateEngine(place)
            except EngineError as error:
                say(f"queue: {error}")
        options = WorkerOptions(client.queued.own_labels(), place.lease_seconds, job_seconds=1.0)
        worker = Recorded(client, queue, options, say)
        worker.write = write
        signal.signal(signal.SIGTERM, lambda *_: worker.drain())
        worker.run()
        queue.close()


if __name__ == "__main__":
    (main if sys.argv[3:] == ["alone"] else nursery)(*sys.argv[1:3])
