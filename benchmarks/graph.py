"""A chain of 100,000 nodes: collected and verified, beside what git does with the same graph.

Each step is four nodes, as a commit is four objects: the step (commit), its details (tree), and
two texts of 200 bytes (blobs).
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from benchmarks.measure import Case, interleaved, peak_megabytes, ratio
from benchmarks.store import text

NODES_OF_A_STEP = 4
MEMORY_MB = 150.0

_REF = {"type": "string", "format": "ocas_ref"}
_DETAIL = {
    "type": "object",
    "properties": {"a": _REF, "b": _REF},
    "required": ["a", "b"],
    "additionalProperties": False,
}
_STEP = {
    "type": "object",
    "properties": {"prev": {"anyOf": [_REF, {"type": "null"}]}, "detail": _REF},
    "required": ["prev", "detail"],
    "additionalProperties": False,
}

_ENVIRONMENT: Mapping[str, str] = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nowhere"}

# What is timed, each in a process of its own, as git is.
_MARK = """
import sys, time
from uwf_core.cas.gc import Rules, collect
from uwf_core.cas.store import Store
from uwf_core.stores.open import open_backend
store = Store(open_backend("sqlite:store.db", sys.argv[1]), lambda: 0)
rules = Rules(("all",), lambda name: "all", lambda name: None)
found = collect(store, rules, 1 << 60, 1 << 60, dry_run=True)
assert found.freed == 0 and found.nodes > int(sys.argv[2]), found
"""
_VERIFY = """
import sys
from uwf_core.cas.store import Store
from uwf_core.cas.verify import scan_all
from uwf_core.stores.open import open_backend
store = Store(open_backend("sqlite:store.db", sys.argv[1]), lambda: 0)
scan = scan_all(store)
assert not scan.faults and len(scan.graph) > int(sys.argv[2]), scan.faults[:3]
"""


def beside_git(folder: Path, rounds: int, nodes: int) -> Iterator[Figure]:
    """gc's mark and verification of `nodes`, to `git rev-list` and `git fsck` on the same graph."""
    steps = nodes // NODES_OF_A_STEP
    home = _store(folder / "store", steps)
    git = _repository(folder / "git", steps)
    cases = {
        "rev-list": Case(["git", "rev-list", "--objects", "--all"], git, _ENVIRONMENT),
        "fsck": Case(["git", "fsck", "--full"], git, _ENVIRONMENT),
        "mark": _case(_MARK, home, nodes),
        "verify": _case(_VERIFY, home, nodes),
    }
    times = interleaved(cases, rounds)
    for name, base, most in (("mark", "rev-list", 3.0), ("verify", "fsck", 2.5)):
        seconds = sorted(times[name])[len(times[name]) // 2]
        yield Figure(
            f"{name} of {nodes:,} nodes",
            ratio(times, name, base),
            f"x git {base}",
            most,
            f"{seconds:.2f} s, with the start of the process",
        )


def memory(folder: Path, nodes: int) -> Iterator[Figure]:
    """The peak of a collection and of a verification of `nodes`."""
    home = _store(folder / "store", nodes // NODES_OF_A_STEP)
    for name, code in (("gc", _MARK), ("verify", _VERIFY)):
        peak = peak_megabytes(_case(code, home, nodes))
        yield Figure(f"peak memory of {name}, {nodes:,} nodes", peak, "MB", MEMORY_MB)


def _case(code: str, home: Path, nodes: int) -> Case:
    return Case([sys.executable, "-c", code, str(home), str(nodes)], home, _ENVIRONMENT)


def _store(home: Path, steps: int) -> Path:
    from uwf_core.cas.store import Store
    from uwf_core.stores.open import open_backend

    home.mkdir(parents=True)
    store = Store(open_backend("sqlite:store.db", str(home)), lambda: int(time.time() * 1000))
    head: Any = None
    try:
        for first in range(0, steps, 1000):
            with store.transaction():
                step, detail = (store.put_schema(each, trusted=True) for each in (_STEP, _DETAIL))
                for number in range(first, min(first + 1000, steps)):
                    texts = {key: store.put_text(key + text(number)) for key in ("a", "b")}
                    head = store.put(step, {"prev": head, "detail": store.put(detail, texts)})
        store.set_variable("@bench/head", head, {}, None)
    finally:
        store.close()
    return home


def _repository(folder: Path, steps: int) -> Path:
    """The same graph in git, in one pack as `git gc` leaves it."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "--bare", "."], cwd=folder, check=True)
    feed = subprocess.Popen(
        ["git", "fast-import", "--quiet"], cwd=folder, stdin=subprocess.PIPE, text=True
    )
    assert feed.stdin is not None
    with feed.stdin as out:
        for number in range(steps):
            for mark, key in ((1, "a"), (2, "b")):
                out.write(f"blob\nmark :{mark}\ndata 201\n{key}{text(number)}\n")
            message = f"step {number}"
            out.write(
                f"commit refs/heads/main\ncommitter A <a@b> {1_780_000_000 + number} +0000\n"
                f"data {len(message)}\n{message}\n"
                "deleteall\nM 100644 :1 a\nM 100644 :2 b\n\n"
            )
    if feed.wait() != 0:
        raise RuntimeError("git fast-import has failed")
    return folder
