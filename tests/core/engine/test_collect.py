"""Collections beside those who work."""

import pytest
from tests.core.engine.conftest import DONE

from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_core.thread.lock import thread_lock
from uwf_core.upkeep.gc import CollectOptions, collect_garbage

GRACE_MS = 1_000


def test_what_a_run_has_put_since_it_began_stays_however_long_it_takes(
    project: Project, uwf: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step refers to it only at its end, and nobody else does."""
    project.script([DONE])
    thread, engine = uwf.start("loop", "The task.")["thread"], uwf._engine
    begun = engine.now_ms()
    with thread_lock(engine.store, thread, begun):
        ref = engine.store.put_text("what the agent has said so far")
        monkeypatch.setattr(engine, "now_ms", lambda: begun + 100 * GRACE_MS)
        collect_garbage(engine, CollectOptions(grace_seconds=GRACE_MS / 1000))
        assert engine.store.has(ref)
    assert collect_garbage(engine, CollectOptions(grace_seconds=GRACE_MS / 1000))["freed"]
    assert not engine.store.has(ref)
