"""`python -m benchmarks`: measure, print the table."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import (
    branches,
    builtin,
    checking,
    comparing,
    evaluation,
    graph,
    reading,
    startup,
    steps,
    store,
    web,
)
from benchmarks.figures import Figure, table


class Size(NamedTuple):
    """How much is measured."""

    rounds: int
    threads: tuple[int, int]
    long_thread: int
    nodes: int
    files: int
    trials: int
    stored_trials: int
    compared: int
    large: int = 0


FULL = Size(
    rounds=15,
    threads=(1_000, 10_000),
    long_thread=10_000,
    nodes=100_000,
    files=50_000,
    trials=200,
    stored_trials=10_000,
    compared=1_000,
)
QUICK = Size(
    rounds=5,
    threads=(100, 1_000),
    long_thread=500,
    nodes=10_000,
    files=5_000,
    trials=40,
    stored_trials=2_000,
    compared=200,
)

LARGE = 1_000_000
MEMORY = Path("/dev/shm")
DURABLE = ("many", "eval")
"""The benches that also run on a memory file system: without its syncs, uwf's own work is left."""

Bench = Callable[[Path], Iterator[Figure]]


class Peers(NamedTuple):
    """What others took for the same; None where that is not asked for.

    Attributes:
        langgraph_ms: a step of LangGraph. eval_seconds: a trial in each tool, by its name.
        wanted: whether others are run, for benches that measure both in turns.
    """

    langgraph_ms: float | None = None
    eval_seconds: dict[str, float] | None = None
    wanted: bool = False


def benches(size: Size, peers: Peers, most: float = 0.5) -> dict[str, Bench]:
    """Every bench by name; `most`: the target of a durable step in steps of LangGraph."""
    return {
        "startup": lambda folder: startup.start_up(folder, size.rounds, size.threads),
        "scan": lambda folder: startup.plugin_scan(folder, size.rounds, 400),
        "plugins": lambda folder: startup.installed_plugins(folder, size.rounds, 50),
        "exec": lambda folder: steps.one_step(folder, size.rounds),
        "many": lambda folder: steps.many_steps(folder, size.rounds, peers.langgraph_ms, most),
        "branches": lambda folder: branches.parallel(folder, size.rounds),
        "long": lambda folder: steps.long_threads(folder, size.rounds, size.long_thread),
        "diff": lambda folder: comparing.thread_diff(folder, size.rounds, size.compared),
        "views": lambda folder: reading.views(folder, size.rounds),
        "check": lambda _folder: checking.fifty_roles(size.rounds),
        "store": lambda folder: store.put_and_get(folder, size.nodes),
        "graph": lambda folder: graph.beside_git(folder, size.rounds, size.nodes),
        **({"memory": lambda folder: graph.memory(folder, size.large)} if size.large else {}),
        "builtin": lambda folder: builtin.all_figures(
            folder, size.rounds, size.files, peers=peers.wanted
        ),
        "eval": lambda folder: evaluation.trials(
            folder, size.rounds, size.trials, peers.eval_seconds
        ),
        "web": lambda folder: web.pages(folder, size.rounds, size.threads[1]),
        "results": lambda folder: evaluation.reading(folder, size.rounds, size.stored_trials),
    }


def main(words: list[str]) -> int:
    """Measure what the words ask for; 1 if a target is missed and that was asked."""
    parser = argparse.ArgumentParser(prog="nox -s bench --", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, small stores")
    parser.add_argument(
        "--peers",
        action="store_true",
        help="measure LangGraph, promptfoo, Inspect AI and mini-swe-agent as well",
    )
    parser.add_argument(
        "--only", metavar="NAME", help="one of " + ", ".join(benches(QUICK, Peers()))
    )
    parser.add_argument("--large", action="store_true", help="a store of a million nodes as well")
    parser.add_argument("--check", action="store_true", help="a missed target is an error")
    wanted = parser.parse_args(words)
    size = (QUICK if wanted.quick else FULL)._replace(large=LARGE if wanted.large else 0)
    with tempfile.TemporaryDirectory(prefix="uwf-bench-") as name:
        figures = list(measured(Path(name), size, wanted))
    if MEMORY.is_dir() and wanted.only in (None, *DURABLE):
        with tempfile.TemporaryDirectory(prefix="uwf-bench-", dir=MEMORY) as name:
            os.environ["TMPDIR"] = name  # of the folders of trials
            found = measured(Path(name), size, wanted, DURABLE, most=1.0)
            figures += [each._replace(name=f"{each.name}, in memory") for each in found]
    print(table(figures))
    missed = [figure.name for figure in figures if figure.verdict == "MISSED"]
    print(f"\n{len(missed)} missed" + (f": {'; '.join(missed)}" if missed else ""))
    return 1 if wanted.check and missed else 0


def measured(
    parent: Path,
    size: Size,
    wanted: argparse.Namespace,
    names: Sequence[str] | None = None,
    most: float = 0.5,
) -> Iterator[Figure]:
    """The figures of the wanted benches in a folder, named on stderr as they come.

    Args:
        names: the benches to run; all by default. most: as of `benches`.
    """
    for name, bench in benches(size, _peers(parent, size, wanted), most).items():
        if wanted.only in (None, name) and (names is None or name in names):
            folder = parent / name
            folder.mkdir()
            print(f"bench: {name}", file=sys.stderr, flush=True)
            yield from bench(folder)


def _peers(folder: Path, size: Size, wanted: argparse.Namespace) -> Peers:
    """The figures of others, as far as the wanted benches need them."""
    if not wanted.peers:
        return Peers()
    peers = Peers(wanted=True)
    if wanted.only in (None, "many"):
        from benchmarks.peers import langgraph_step_ms

        print("bench: LangGraph", file=sys.stderr, flush=True)
        peers = peers._replace(langgraph_ms=langgraph_step_ms(folder))
    if wanted.only in (None, "eval"):
        from benchmarks.evaluation_peers import seconds_of_each

        few = max(2, size.rounds // 5)
        found = seconds_of_each(folder / "peers", size.trials, few)
        peers = peers._replace(eval_seconds=found)
    return peers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
