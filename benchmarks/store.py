"""The store alone, in one process: put, get, disk for each node."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.measure import one_sync_ms

PAYLOAD_BYTES = 200
CBOR_BYTES = PAYLOAD_BYTES + 2  # the payload as it is stored: what raw means here
ONE_BY_ONE = 200
BATCH = 1_000


def put_and_get(folder: Path, nodes: int) -> Iterator[Figure]:
    """Durable puts one by one, a batch, reads, and what the file weighs."""
    from uwf_core.cas.store import Store
    from uwf_core.stores.open import open_backend

    home = folder / "store"
    home.mkdir(parents=True)
    store = Store(open_backend("sqlite:store.db", str(home)), lambda: int(time.time() * 1000))
    try:
        sync_ms = one_sync_ms(folder)
        singles = [timed(partial(store.put_text, text(number))) for number in range(ONE_BY_ONE)]
        relative = median(singles) / sync_ms
        yield Figure("put of 200 B, durable", relative, "x one sync", note=f"{sync_ms:.2f} ms")
        texts = [text(number) for number in range(ONE_BY_ONE, ONE_BY_ONE + nodes)]
        refs: list[str] = []
        started = time.perf_counter()
        for first in range(0, nodes, BATCH):
            with store.transaction():
                refs += [store.put_text(each) for each in texts[first : first + BATCH]]
        each_us = (time.perf_counter() - started) / nodes * 1e6
        yield Figure(f"put of 200 B, {BATCH:,} in a commit", each_us, "µs each")
        reads = [timed(partial(store.text, ref)) for ref in refs[:: max(1, nodes // 2000)]]
        yield Figure("get of 200 B, verified", median(reads) * 1000, "µs each")
    finally:
        store.close()
    count = nodes + ONE_BY_ONE
    log = (home / "store.db-wal").stat().st_size if (home / "store.db-wal").exists() else 0
    fold_the_log_in(home / "store.db")
    database = (home / "store.db").stat().st_size
    yield Figure(
        f"disk, {nodes:,} nodes of 200 B",
        database / (count * CBOR_BYTES),
        "x raw",
        1.5,
        f"{database / count:.0f} B each; and {log / 1e6:.1f} MB of log folded in",
    )


def fold_the_log_in(database: Path) -> None:
    """Write what is still in the write-ahead log to the database, where it is counted."""
    with closing(sqlite3.connect(database)) as connection:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    assert not busy, "somebody else has the store open"


def text(number: int) -> str:
    """A text of 200 bytes that no other number has."""
    return f"{number:010}" * (PAYLOAD_BYTES // 10)


def timed(call: Callable[[], object]) -> float:
    """The ms of one call."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000
