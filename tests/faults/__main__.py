"""`python -m tests.faults`: make everything go wrong, print the table; 1 if uwf gave way."""

import argparse
import gc
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.experiments import experiments, warm
from tests.faults.shim import VARIABLE, build
from tests.faults.table import Effort, Row, conduct, lines

SHORT = 0.01
TINY = 0.001


def main(words: list[str]) -> int:
    """Make the experiments that the words ask for."""
    parser = argparse.ArgumentParser(prog="nox -s faults --", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a part of everything, for CI")
    parser.add_argument("--share", type=float, help="how much of everything, 1.0 is all")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="*", metavar="WORD", help="the rows that hold a word")
    parser.add_argument(
        "--scene", nargs="*", default=(), help="the power cuts and I/O errors of it"
    )
    parser.add_argument("--tiny", action="store_true", help="as little as makes sense")
    wanted = parser.parse_args(words)
    # Who starts this in the background may have it ignore Ctrl-C and hang-ups, and so every uwf.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    # A process that a row has killed may still write a file: that is no result of the row.
    made = tempfile.TemporaryDirectory(prefix="uwf-faults-", dir=memory, ignore_cleanup_errors=True)
    with made as name:
        folder = Path(name).resolve()
        if VARIABLE not in os.environ:
            return _under_shim(folder, words)
        seed = random.SystemRandom().randrange(1 << 31) if wanted.seed is None else wanted.seed
        share = wanted.share or (TINY if wanted.tiny else SHORT if wanted.short else 1.0)
        effort = Effort(seed, share, wanted.workers, wanted.tiny, tuple(wanted.scene))
        rows = _rows(folder, effort, wanted.only)
    print("\n".join(lines(rows)), flush=True)
    return 1 if any(row.faults for row in rows) else 0


def _under_shim(folder: Path, words: list[str]) -> int:
    """This program again, with the disk that can fail below it."""
    library = build(folder)
    env = {**os.environ, VARIABLE: library, "PYTHONHASHSEED": "0"}
    if not library.startswith("no"):
        env["LD_PRELOAD"] = library
    command = [sys.executable, "-m", "tests.faults", *words]
    return os.spawnve(os.P_WAIT, sys.executable, command, env)


def _rows(folder: Path, effort: Effort, only: list[str] | None) -> list[Row]:
    os.environ.pop("LD_PRELOAD", None)  # for the programs that are started from here
    if not effort.tiny:  # few children import less than this does
        warm(folder / "warm")
    gc.collect()
    gc.freeze()  # children share what is there by now
    rows = []
    for number, experiment in enumerate(experiments(folder)):
        if only and not any(word in experiment.what for word in only):
            continue
        print(f"faults: {experiment.what} …", end="", file=sys.stderr, flush=True)
        started = time.monotonic()
        rows.append(conduct(experiment, effort._replace(seed=effort.seed + number)))
        faults = f"{rows[-1].tried} tried, {len(rows[-1].faults)} failures"
        print(f" {faults}, {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
