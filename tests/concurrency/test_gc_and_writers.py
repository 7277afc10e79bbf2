"""Collections go on beside runs, forks and removals, and nobody ever misses a node."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rig import AGAIN, DONE, GOOD, SECONDS, Rig
from tests.forms import form

LIFE = Path(__file__).parent / "programs" / "life.py"
ROUNDS = form(short=4, long=60)


def test_collections_with_no_grace_at_all_take_nothing_from_those_who_write(rig: Rig) -> None:
    """Three lives, each thread started, run, forked, cancelled, removed; two collectors beside."""
    rig.play(DONE, AGAIN, DONE, GOOD)
    rig.start()
    workers = [
        subprocess.Popen(
            [sys.executable, str(LIFE), kind, str(times)],
            cwd=rig.folder,
            env=rig.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for kind, times in [("live", ROUNDS)] * 3 + [("collect", ROUNDS * 5)] * 2
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(len(workers)) as pool:
        printed = list(pool.map(lambda worker: worker.communicate(timeout=SECONDS * 2), workers))
    assert [worker.returncode for worker in workers] == [0] * len(workers), printed
    said = [json.loads(out) for out, _ in printed]
    freed, steps = (sum(each[what] for each in said) for what in ("freed", "steps"))
    assert steps >= 3 * ROUNDS * 2
    assert freed > 0
    found = rig.uwf("cas", "verify")
    assert (found.exit_code, found.document["problems"]) == (0, [])
    assert rig.uwf("cas", "gc", "--grace", "0s").exit_code == 0
    assert rig.uwf("cas", "verify").document["valid"]
