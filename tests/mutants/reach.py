"""Which tests reach a place: every bug's place is marked in one copy, and all tests run once."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.mutants.mutant import ROOT, Copy
from tests.mutants.random_bug import RandomBug

_MODULE = '''\
"""Keeps who reaches a marked place; also a plugin of pytest that keeps each test's end."""

import glob
import os

FILE = {file!r}
_seen = set()


def at(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    for each in (test,) if test else running():
        if (number, each) not in _seen:
            _seen.add((number, each))
            keep(f"reached\\t{{number}}\\t{{each}}")


def running():
    """What runs now, for a program whose environment does not name its test."""
    for name in glob.glob(glob.escape(FILE) + ".*"):
        with open(name) as file:
            yield file.read()


def keep(line):
    file = os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{{line}}\\n".encode())
    os.close(file)


def pytest_configure(config):
    global is_worker
    is_worker = hasattr(config, "workerinput")


def pytest_runtest_logstart(nodeid):
    with open(f"{{FILE}}.{{os.getpid()}}", "w") as file:
        file.write(nodeid)


def pytest_runtest_logreport(report):
    if report.when == "call" and not is_worker:
        keep(f"ended\\t{{report.duration}}\\t{{report.nodeid}}\\t{{report.outcome}}")
'''


class Reach(NamedTuple):
    """What one run of the tests shows.

    Attributes:
        seconds: how long each test took that passed, by its id.
        tests: the ids of those that reach a bug's place, by the bug's number.
    """

    seconds: Mapping[str, float]
    tests: Mapping[int, frozenset[str]]

    def nearest(self, number: int) -> list[str]:
        """The tests to ask about a bug, one of each function: those that reach few places first,
        of equal ones the quicker.
        """
        places = defaultdict[str, int](int)
        for tests in self.tests.values():
            for test in tests:
                places[test] += 1
        found = [test for test in self.tests.get(number, ()) if test in self.seconds]
        found.sort(key=lambda test: (places[test], self.seconds[test], test))
        return list({test.partition("[")[0]: test for test in reversed(found)}.values())[::-1]


def recorded(copy: Copy, bugs: Sequence[RandomBug], tests: Sequence[str], workers: int) -> Path:
    """Run the tests on a copy whose places are marked; the file that tells who reaches which."""
    file = copy.folder / "reach.tsv"
    site = next(copy.folder.glob("environment/lib/*/site-packages"))
    (site / "uwf_bug_reach.py").write_text(_MODULE.format(file=str(file)))
    for path in {bug.path for bug in bugs}:
        here = [(number, bug) for number, bug in enumerate(bugs) if bug.path == path]
        (copy.folder / path).write_text(_marked(path, here), "utf-8")
    words = ["-q", "-n", str(workers), "--dist", "worksteal", "-p", "uwf_bug_reach"]
    subprocess.run(
        [str(copy.python), "-m", "pytest", *words, "-p", "no:cacheprovider", *tests],
        cwd=ROOT, env=copy.variables(), stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return file


def read_reach(file: Path) -> Reach:
    """What a record says."""
    seconds, tests = dict[str, float](), defaultdict[int, set[str]](set)
    for line in file.read_text("utf-8", errors="replace").splitlines():
        match line.split("\t"):
            case ["reached", number, test] if test:
                tests[int(number)].add(re.sub(r" \((setup|call|teardown)\)$", "", test))
            case ["ended", taken, test, "passed"]:
                seconds[test] = float(taken)
    return Reach(seconds, {number: frozenset(found) for number, found in tests.items()})


def _marked(path: str, bugs: Sequence[tuple[int, RandomBug]]) -> str:
    lines = (ROOT / path).read_text("utf-8").splitlines(keepends=True)
    return "".join(_with_marks(lines, bugs))


def _with_marks(lines: Sequence[str], bugs: Sequence[tuple[int, RandomBug]]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        for bug_number, bug in bugs:
            if bug.statement == number:
                yield f"{bug.mark.format(bug_number)}\n"
        yield line
