"""Procrastinate as the queue: its tables are in the schema of the store.

It is asynchronous; the worker is not, so one thread runs its event loop. Its commits do not wait
for the disk, since a job that is lost in a crash costs only time.
"""

import asyncio
import threading
from collections.abc import Collection, Coroutine, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import Any, TypeVar

import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued, ProcrastinateException
from procrastinate.jobs import Job as QueueJob
from procrastinate.jobs import Status
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout

from uwf_store_postgres.place import Place
from uwf_worker.engines.engine import EngineError, Hint, Job

_TASK = "uwf"
_CALL_SECONDS = 15.0
_STALLED_SECONDS = 60.0
_POLL_SECONDS = 1.0
"""How often a worker without notifications asks: behind a pooler of transactions."""

_Result = TypeVar("_Result")
_FAULTS = (ProcrastinateException, psycopg.Error, PoolTimeout, OSError, FutureTimeout, TimeoutError)


class ProcrastinateEngine:
    """Jobs of Procrastinate in the database of a store; it connects at once.

    Raises:
        EngineError: the database cannot be reached, or has no tables of it.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="queue", daemon=True)
        self._thread.start()
        self._worker: int | None = None
        self._is_open = True
        try:
            self._call(self._open())
        except EngineError:
            self.close()
            raise

    async def _open(self) -> None:
        pooled, given = self._place.pooled, {"application_name": "uwf queue"}
        if not pooled:
            given["options"] = f"-c search_path={self._place.schema} -c synchronous_commit=off"
        connector = procrastinate.PsycopgConnector(
            conninfo=make_conninfo(self._place.conninfo, **given),
            min_size=1,
            max_size=2,
            timeout=5.0,
            kwargs=_pooled(self._place.schema) if pooled else {},
        )
        self._app = procrastinate.App(connector=connector)
        self._woken = asyncio.Event()
        await self._app.open_async()
        self._jobs = self._app.job_manager
        self._worker = await self._jobs.register_worker()
        self._listener = None if pooled else asyncio.ensure_future(self._listen())

    async def _listen(self) -> None:
        async def wake(**_: Any) -> None:
            self._woken.set()

        while True:
            with suppress(*_FAULTS):
                await self._jobs.listen_for_jobs(on_notification=wake)
            await asyncio.sleep(_POLL_SECONDS)

    def _call(self, call: Coroutine[Any, Any, _Result], seconds: float = 0) -> _Result:
        if not self._is_open:
            call.close()
            raise EngineError("the queue is closed")
        future = asyncio.run_coroutine_threadsafe(call, self._loop)
        try:
            return future.result(_CALL_SECONDS + seconds)
        except _FAULTS as error:
            future.cancel()
            cause = error.__cause__ or error
            raise EngineError(" ".join(f"{cause}".split()) or type(error).__name__) from error

    def enqueue(self, hints: Sequence[Hint]) -> None:
        """Defer a job for each thread that has no waiting one."""
        self._call(self._enqueue(hints))

    async def _enqueue(self, hints: Sequence[Hint]) -> None:
        for hint in hints:
            job = QueueJob(
                id=None,
                queue=hint.queue,
                lock=None,
                queueing_lock=f"{self._place.schema}/{hint.thread}",
                task_name=_TASK,
                task_kwargs={"thread": hint.thread},
            )
            with suppress(AlreadyEnqueued):
                await self._jobs.defer_job_async(job)

    def claim(self, queues: Collection[str], wait_seconds: float) -> Job | None:
        """Fetch a job; a notification ends the wait for one."""
        return self._call(self._claim(sorted(queues), wait_seconds), wait_seconds)

    async def _claim(self, queues: list[str], wait_seconds: float) -> Job | None:
        until = self._loop.time() + wait_seconds
        while True:
            self._woken.clear()
            job = await self._fetched(queues)
            if job is not None:
                assert job.id is not None
                return Job(job.id, str(job.task_kwargs.get("thread")))
            left = until - self._loop.time()
            if left <= 0:
                return None
            pause = min(left, _POLL_SECONDS) if self._listener is None else left
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._woken.wait(), pause)

    async def _fetched(self, queues: list[str]) -> QueueJob | None:
        assert self._worker is not None
        try:
            return await self._jobs.fetch_job(queues=queues, worker_id=self._worker)
        except ProcrastinateException as error:
            if not isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
                raise
        self._worker = await self._jobs.register_worker()  # it was stopped and others pruned it
        return await self._jobs.fetch_job(queues=queues, worker_id=self._worker)

    def heartbeat(self) -> None:
        """Renew the row of this worker."""
        self._call(self._heartbeat())

    async def _heartbeat(self) -> None:
        assert self._worker is not None
        await self._jobs.update_heartbeat(self._worker)

    def finish(self, job: Job) -> None:
        """Delete a job, and with it its events."""
        self._call(self._finish(job.id, Status.SUCCEEDED))

    async def _finish(self, job: int, status: Status) -> bool:
        try:
            await self._jobs.finish_job_by_id_async(job_id=job, status=status, delete_job=True)
        except ProcrastinateException as error:
            if isinstance(error.__cause__, psycopg.errors.RaiseException):
                return False  # it was finished, or another worker has reaped it
            raise
        return True

    def reap(self) -> int:
        """Delete the jobs of workers without a heartbeat, which Procrastinate only lists."""
        return self._call(self._reap())

    async def _reap(self) -> int:
        stalled = await self._jobs.get_stalled_jobs(
            task_name=_TASK, seconds_since_heartbeat=_STALLED_SECONDS
        )
        count = 0
        for job in stalled:
            count += job.id is not None and await self._finish(job.id, Status.FAILED)
        await self._jobs.prune_stalled_workers(_STALLED_SECONDS)
        return count

    def close(self) -> None:
        """Leave the queue and close its connections."""
        if not self._is_open:
            return
        with suppress(EngineError):
            self._call(self._close())
        self._is_open = False
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        if not self._thread.is_alive():
            self._loop.close()

    async def _close(self) -> None:
        if self._worker is not None:
            if self._listener is not None:
                self._listener.cancel()
                with suppress(asyncio.CancelledError):
                    await self._listener
            with suppress(*_FAULTS):
                await self._jobs.unregister_worker(self._worker)
        await self._app.close_async()


def _pooled(schema: str) -> dict[str, Any]:
    """Options of connections behind a pooler: what is set for one lasts for a transaction, so each
    statement is one.
    """
    settings = f"SET LOCAL search_path TO {schema}; SET LOCAL synchronous_commit TO off"

    class PooledCursor(psycopg.AsyncCursor[Any]):
        async def execute(self, *words: Any, **options: Any) -> "PooledCursor":
            async with self.connection.transaction():
                await psycopg.AsyncCursor(self.connection).execute(settings)
                return await super().execute(*words, **options)

    return {"prepare_threshold": None, "cursor_factory": PooledCursor}
