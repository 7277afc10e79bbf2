"""The contract of queues: a test of a queue subclasses `EngineContract`.

A queue may lose, double and delay jobs; what it must never do is give one job to two workers, or
keep a worker waiting longer than it said. `Unreliable` makes any queue worse than allowed, and the
kit shows that every thread is run nevertheless, exactly once.
"""

import random
import threading
import time
from collections.abc import Callable, Collection, Sequence

from uwf_worker.engines.engine import Engine, EngineError, Hint, Job, queue_of

QUEUE, OTHER = queue_of(["agent:a"]), queue_of(["agent:b"])


class Unreliable:
    """A queue whose calls are lost, doubled, late, or fail after they had their effect."""

    def __init__(self, inner: Engine, seed: int) -> None:
        self._inner, self._random = inner, random.Random(seed)
        self._lock = threading.Lock()

    def _spoiled(self, call: Callable[[], object]) -> None:
        with self._lock:
            fate = self._random.choice(("lost", "doubled", "late", "failed", "done"))
        if fate == "lost":
            return
        if fate == "late":
            time.sleep(0.05)
        call()
        if fate == "doubled":
            call()
        if fate == "failed":
            raise EngineError("the answer was lost")

    def enqueue(self, hints: Sequence[Hint]) -> None:
        """As the inner one, perhaps."""
        self._spoiled(lambda: self._inner.enqueue(hints))

    def claim(self, queues: Collection[str], wait_seconds: float) -> Job | None:
        """A job; its answer may be lost, so that nobody runs it, or it comes twice."""
        found: list[Job | None] = []
        self._spoiled(lambda: found.append(self._inner.claim(queues, wait_seconds)))
        return found[0] if found else None

    def heartbeat(self) -> None:
        """As the inner one, perhaps."""
        self._spoiled(self._inner.heartbeat)

    def finish(self, job: Job) -> None:
        """As the inner one, perhaps."""
        self._spoiled(lambda: self._inner.finish(job))

    def reap(self) -> int:
        """As the inner one, perhaps."""
        self._spoiled(self._inner.reap)
        return 0

    def close(self) -> None:
        """Close the inner one."""
        self._inner.close()


class Truth:
    """A store in small: which threads are wanted, and who has claimed one."""

    def __init__(self, threads: Collection[str]) -> None:
        self.wanted, self.ran = {*threads}, list[str]()
        self._lock = threading.Lock()

    def take(self, thread: str) -> bool:
        """Run a thread, if it is still wanted."""
        with self._lock:
            is_mine = thread in self.wanted
            self.wanted.discard(thread)
            if is_mine:
                self.ran.append(thread)
        return is_mine


class EngineContract:
    """The clauses that every queue passes. A subclass defines the fixture `engine`: a new, empty
    queue.
    """

    def another(self, engine: Engine) -> Engine:
        """The same queue as another worker has it."""
        return engine

    def test_a_job_is_given_once_and_only_to_those_who_listen(self, engine: Engine) -> None:
        """Each job goes to one worker that claims its queue."""
        engine.enqueue([Hint("t1", QUEUE), Hint("t2", OTHER), Hint("t3", QUEUE)])
        other = self.another(engine)
        found = [each.claim([QUEUE], 0.2) for each in (engine, other, engine, other)]
        assert sorted(job.thread for job in found if job) == ["t1", "t3"]
        assert len({job.id for job in found if job}) == 2
        for job in filter(None, found):
            engine.finish(job)
            engine.finish(job)  # twice is harmless
        assert [job and job.thread for job in [engine.claim([QUEUE, OTHER], 1)]] == ["t2"]

    def test_a_thread_waits_once(self, engine: Engine) -> None:
        """A hint for a thread that has a waiting job adds none; one that runs gets another."""
        engine.enqueue([Hint("t", QUEUE), Hint("t", QUEUE)])
        engine.enqueue([Hint("t", QUEUE)])
        first = engine.claim([QUEUE], 1)
        assert first is not None
        assert engine.claim([QUEUE], 0.05) is None
        engine.enqueue([Hint("t", QUEUE)])
        second = engine.claim([QUEUE], 1)
        assert second is not None and second.id != first.id

    def test_a_claim_waits_no_longer_than_it_said_and_a_job_ends_the_wait(
        self, engine: Engine
    ) -> None:
        """Workers have other things to do."""
        begun = time.monotonic()
        assert engine.claim([QUEUE], 0.3) is None
        assert 0.2 < time.monotonic() - begun < 5
        other = self.another(engine)
        later = threading.Timer(0.3, lambda: other.enqueue([Hint("t", QUEUE)]))
        later.start()
        begun = time.monotonic()
        assert engine.claim([QUEUE], 20) is not None
        assert time.monotonic() - begun < 10
        later.join()

    def test_upkeep_disturbs_no_job(self, engine: Engine) -> None:
        """Heartbeats and reaping leave the jobs of living workers alone."""
        engine.enqueue([Hint("t", QUEUE)])
        job = engine.claim([QUEUE], 1)
        assert job is not None
        engine.heartbeat()
        assert engine.reap() == 0
        engine.finish(job)
        assert engine.claim([QUEUE], 0.05) is None

    def test_every_thread_runs_once_however_bad_the_queue_is(self, engine: Engine) -> None:
        """Calls are lost, doubled, late, or fail after their effect; the sweep gives new hints."""
        for seed in (1, 2):
            self._run_with_a_bad_queue(engine, seed)

    def _run_with_a_bad_queue(self, engine: Engine, seed: int) -> None:
        threads = [f"t{seed}-{number}" for number in range(20)]
        truth = Truth(threads)

        def work(bad: Unreliable) -> None:
            until = time.monotonic() + 60
            while truth.wanted and time.monotonic() < until:
                try:
                    bad.enqueue([Hint(each, QUEUE) for each in sorted(truth.wanted)])
                    job = bad.claim([QUEUE], 0.02)
                    if job is not None:
                        truth.take(job.thread)
                        bad.finish(job)
                except EngineError:
                    continue

        workers = [
            threading.Thread(target=work, args=[Unreliable(each, seed)])
            for each in (engine, self.another(engine))
        ]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        assert sorted(truth.ran) == sorted(threads)

    def test_a_closed_queue_is_closed_twice(self, engine: Engine) -> None:
        """Closing releases everything, once."""
        engine.close()
        engine.close()
