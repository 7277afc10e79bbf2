"""Views of a recorded thread of 1,000 steps, in seconds of one core."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.world import User
from uwf_core.client import Client
from uwf_explain.explanation.html import why_html
from uwf_explain.explanation.page import why_page

STEPS = 1_000


def views(folder: Path, rounds: int) -> Iterator[Figure]:
    """`thread why` as one HTML page: the page is made, and the root over all nodes."""
    user = User(folder / "reading")
    thread = user.thread(STEPS)

    def explain() -> int:
        with Client.open(env=user.environment, cwd=user.project) as client:
            return sum(map(len, why_html(why_page(client.thread(thread)))))

    size = explain()
    note = f"{size / 1e6:.1f} MB, with the root of the bundle"
    yield Figure(f"thread why -o, {STEPS:,} steps", _seconds(explain, rounds), "s", 1.0, note)


def _seconds(work: Callable[[], object], rounds: int) -> float:
    """The least processor time of one run."""
    times = []
    for _ in range(max(3, rounds // 3)):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)
