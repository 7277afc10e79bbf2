"""`python -m tests.night`: many threads overnight, with nobody at the desk.

The builtin agent plays two roles with a model server that answers with 503, cuts connections and
falls silent; runs are killed with SIGKILL. Nothing but `uwf tick` continues the threads, in the
environment that its own line for cron has. Prints what became of them; the exit code is 1 if a
thread ended otherwise than completed, with a person or at a limit, or if its record is not sound.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.night.night import Night, Plan


def main(words: list[str]) -> int:
    """Play the night that the words ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.night", description=__doc__)
    parser.add_argument("--threads", type=int, default=60)
    parser.add_argument("--steps", type=int, default=20, help="of each thread")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unavailable", type=float, default=0.05, help="part of the answers")
    parser.add_argument("--cut", type=float, default=0.02, help="part of the answers")
    parser.add_argument("--silent", type=float, default=0.01, help="part of the answers")
    parser.add_argument("--killed", type=float, default=0.02, help="runs for each step")
    parser.add_argument("--ticks-killed", type=float, default=0.1, help="part of the passes")
    parser.add_argument("--minutes", type=float, default=60, help="the longest time")
    plan = Plan(**vars(parser.parse_args(words)))
    with tempfile.TemporaryDirectory(prefix="uwf-night-", ignore_cleanup_errors=True) as folder:
        night = Night(Path(folder), plan)
        night.play(lambda line: print(line, file=sys.stderr, flush=True))
        faults = night.faults()
        print("\n".join(night.report(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
