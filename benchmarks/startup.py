"""Start-up, in multiples of `python -c pass`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import Case, interleaved, peak_megabytes, ratio
from benchmarks.world import User, distributions, plugins

SCAN = "from uwf_core.plugins.scan import GROUPS, scan\nscan(GROUPS)\n"


def start_up(folder: Path, rounds: int, sizes: tuple[int, int]) -> Iterator[Figure]:
    """`--version`, `--help`, `thread list` of stores of 0 and of `sizes` threads."""
    users = {size: User(folder / f"threads-{size}") for size in (0, *sizes)}
    for size in sizes:
        users[size].threads(size)
    most = sizes[-1]
    cases = {
        "--version": users[0].case("--version"),
        "--help": users[0].case("--help"),
        **{f"thread list, {size:,} threads": users[size].case(*_LAST) for size in users},
        f"thread list --all, {most:,} threads": users[most].case("thread", "list", "--all"),
        f"usage, {most:,} threads": users[most].case("usage"),
        "thread show": users[0].case("thread", "show", users[0].thread()),
    }
    targets = {
        "--version": 2.0,
        "--help": 5.5,
        f"thread list --all, {most:,} threads": 13.0,
        f"usage, {most:,} threads": 18.0,
    }
    times = interleaved(cases, rounds)
    for name in cases:
        yield Figure(name, ratio(times, name), "x py", targets.get(name, 9.0))
    yield Figure(
        f"peak memory, thread list of {most:,}",
        peak_megabytes(cases[f"thread list, {most:,} threads"]),
        "MB",
        note=f"python -c pass: {peak_megabytes(_python(users[0], 'pass')):.0f} MB",
    )


_LAST = ("thread", "list", "--limit", "20")


def plugin_scan(folder: Path, rounds: int, installed: int) -> Iterator[Figure]:
    """Find the plugins among so many installed distributions, in a separate process."""
    user = User(folder / "scan")
    distributions(folder / "installed", installed)
    scan = _python(user, SCAN)
    cases = {
        "scan": scan._replace(
            environment={**scan.environment, "PYTHONPATH": str(folder / "installed")}
        )
    }
    times = interleaved(cases, rounds)
    yield Figure(f"plugin scan, {installed} distributions", ratio(times, "scan"), "x py", most=1.5)


def installed_plugins(folder: Path, rounds: int, installed: int) -> Iterator[Figure]:
    """What commands that need no plugin cost with so many installed: as much as with none."""
    user = User(folder / "plugins")
    plugins(folder / "site", installed)
    cases = {}
    for name, words in {"--version": ("--version",), "thread list": ("thread", "list")}.items():
        case = user.case(*words)
        path = {"PYTHONPATH": str(folder / "site")}
        cases[name] = case
        cases[f"{name}, {installed}"] = case._replace(environment={**case.environment, **path})
    times = interleaved(cases, rounds)
    for name in ("--version", "thread list"):
        most = ratio(times, f"{name}, {installed}") / ratio(times, name)
        yield Figure(f"{name}, {installed} plugins installed", most, "x none installed", 1.1)


def _python(user: User, source: str) -> Case:
    return Case([sys.executable, "-c", source], user.project, user.environment)
