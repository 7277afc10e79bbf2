"""Workers that are killed, stopped, cut off and robbed of their server, and what must hold anyway.

    python tests/postgres/chaos.py --seed 1 --workers 8 --faults 1000

prints one line: how many faults of each kind, and what was found. tests/postgres/README.md has a
table of such runs; a short form is a test.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from postgres_server import Server
from proxy import Proxy

from uwf_core.client import Client, ThreadFilter
from uwf_core.errors import UwfError
from uwf_core.testing.project import Project

HERE = Path(__file__).parent
LEASE_SECONDS = 2.0
STEPS = 5
PARTS = 3
KINDS = ("kill", "kill", "pause", "pause", "cut", "cut", "cut", "restart")
_ROLE = """\
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
"""


def chain() -> str:
    """A workflow of STEPS roles, one after the other."""
    names = [f"r{number}" for number in range(STEPS)]
    roles = "".join(f"  {name}:\n{_ROLE}" for name in names)
    edges = "".join(
        f'  {name}: {{done: {{role: {to}, prompt: "Go on."}}}}\n'
        for name, to in zip(names, [*names[1:], "$END"], strict=True)
    )
    return (
        f"version: 1\nname: chain\nroles:\n{roles}graph:\n  $START: {{new: {{role: r0, prompt: "
        f"Begin.}}, resume: {{role: r0, prompt: More.}}}}\n{edges}"
    )


def fan() -> str:
    """A workflow with PARTS branches, each a chain."""
    parts = "".join(f"        p{n}: {{role: part, prompt: Part {n}.}}\n" for n in range(PARTS))
    return (
        f"version: 1\nname: fan\nroles:\n  r0:\n{_ROLE}  part: {{workflow: chain}}\ngraph:\n"
        "  $START: {new: {role: r0, prompt: Begin.}, resume: {role: r0, prompt: More.}}\n"
        f"  r0:\n    done:\n      parallel:\n{parts}      then:\n"
        '        done: {role: $END, prompt: "Done."}\n'
        '        $mixed: {role: $END, prompt: "Done."}\n'
    )


class Report(NamedTuple):
    """What was found. All lists should be empty."""

    faults: "Counter[str]"
    seconds: float
    acknowledged: int
    refused: int
    requeued: int
    wrong: list[str]

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        return (
            f"{sum(self.faults.values())} faults ({kinds}) in {self.seconds:.0f} s; "
            f"{self.acknowledged} steps acknowledged, {self.refused} late ones refused, "
            f"{self.requeued} queued again by a person; "
            f"{len(self.wrong)} wrong"
        )


class Crew:
    """The worker processes, each behind the breaking network; one process forks them all."""

    def __init__(self, project: Project, url: str, count: int, log: Path, engine: str) -> None:
        words = [sys.executable, HERE / "chaos_worker.py", log, engine]
        with (log.parent / "errors").open("w") as errors:
            self._nursery = subprocess.Popen(
                words, env={**project.env, "UWF_STORE": url}, cwd=project.folder, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        self.processes = [self._asked("start") for _ in range(count)]
        self._timers: list[threading.Timer] = []

    def _asked(self, line: str) -> int | None:
        assert self._nursery.stdin is not None and self._nursery.stdout is not None
        self._nursery.stdin.write(f"{line}\n")
        self._nursery.stdin.flush()
        said = self._nursery.stdout.readline().strip()
        return None if said == "None" else int(said)

    def _end_of(self, pid: int, seconds: float) -> int:
        until = time.monotonic() + seconds
        while (code := self._asked(f"poll {pid}")) is None:
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        return code

    def kill(self, number: int) -> None:
        """End one at once, and start another one."""
        os.kill(self.processes[number], signal.SIGKILL)
        self._end_of(self.processes[number], 60)
        self.processes[number] = self._asked("start")

    def pause(self, number: int, seconds: float) -> None:
        """Stop one for longer than its lease."""
        pid = self.processes[number]
        os.kill(pid, signal.SIGSTOP)
        timer = threading.Timer(seconds, lambda: self._continued(pid))
        timer.start()
        self._timers.append(timer)

    def _continued(self, pid: int) -> None:
        if pid in self.processes:  # else it was killed meanwhile
            os.kill(pid, signal.SIGCONT)

    def end(self) -> list[int]:
        """Drain all; their exit codes."""
        for timer in self._timers:
            timer.join()
        for pid in self.processes:
            os.kill(pid, signal.SIGTERM)
        codes = [self._end_of(pid, 60) for pid in self.processes]
        self._nursery.communicate()
        return codes


def run(
    server: Server, url: str, folder: Path, *, seed: int, workers: int, faults: int,
    engine: str = "procrastinate", patience: float = 120, pause: tuple[float, float] = (0.3, 1.2),
    seconds: float = float("inf"), kinds: Sequence[str] = KINDS, fans: float = 0.2,
) -> Report:  # fmt: skip
    """Let workers run threads under faults of these `kinds`, until all threads are completed. There
    are no more faults after so many `seconds`. `fans`: the share of threads with branches.
    """
    chance, counts = random.Random(seed), Counter[str]()
    project = Project(folder)
    project.env["UWF_STORE"] = url
    project.workflow("chain", chain())
    project.workflow("fan", fan())
    replies = [
        {"role": f"r{n}", "output": {"$status": "done"}, "delayMs": 40} for n in range(STEPS)
    ]
    project.script(replies, by_role=True)
    log, proxy = folder / "log.txt", Proxy(server.port)
    crew = Crew(project, url.replace(str(server.port), str(proxy.port)), workers, log, engine)
    begun = time.monotonic()
    requeued = 0
    with project.client() as uwf:
        names = ["fan" if n % 4 < max(1, round(4 * fans)) else "chain" for n in range(8)]
        threads = [uwf.start(name, f"Task {n}.", queue=True)["thread"]
                   for n, name in enumerate(names)]  # fmt: skip
        unfinished = [*threads]
        for _ in range(faults):
            if time.monotonic() - begun > seconds:
                break
            time.sleep(chance.uniform(*pause))
            kind, number = chance.choice(kinds), chance.randrange(workers)
            counts[kind] += 1
            if kind == "kill":
                crew.kill(number)
            elif kind == "pause":
                crew.pause(number, LEASE_SECONDS * 1.5)
            elif kind == "cut":
                proxy.cut()
            else:
                server.stop(chance.choice((signal.SIGINT, signal.SIGKILL)))
                time.sleep(0.5)  # its processes release their shared memory
                server.start()
            unfinished = _open(uwf, unfinished)
            if len(unfinished) < workers:  # keep them busy
                name = "fan" if chance.random() < fans else "chain"
                new = [uwf.start(name, f"More {n}.", queue=True)["thread"] for n in range(4)]
                threads += new
                unfinished += new
        until = time.monotonic() + patience
        while (unfinished := _open(uwf, unfinished)) and time.monotonic() < until:
            time.sleep(0.5)
            requeued += _queued_again(uwf, unfinished)
        codes = crew.end()
        took = time.monotonic() - begun
        wrong = [f"exit {code}" for code in codes if code]
        lines = log.read_text().splitlines()
        wrong += verify(uwf, threads, lines)
        wrong += map(str, uwf.verify()["problems"])
    proxy.close()
    refused = sum(line.startswith("refused ") for line in lines)
    acks = sum(line.startswith("ack ") for line in lines)
    return Report(counts, took, acks, refused, requeued, wrong)


def _open(uwf: Client, threads: list[str]) -> list[str]:
    return [each for each in threads if uwf.show(each)["status"] != "completed"]


def _queued_again(uwf: Client, threads: list[str]) -> int:
    """Queue what waits for a person, after five interruptions of one step."""
    count = 0
    for each in threads:
        shown = uwf.show(each)
        waits = shown["suspendReason"] in ("failure", "interrupted")
        if waits and uwf.queued.backend.row(each) is None:
            continue
        if waits and not uwf.queued.is_wanted(each):
            with suppress(UwfError):  # a worker is at it
                uwf.exec(each, queue=True)
                count += 1
    return count


def verify(uwf: Client, threads: list[str], lines: list[str]) -> list[str]:
    """One pass over the record: each acknowledged step is once in its chain, in real-time order."""
    wrong = [_lost(uwf, thread) for thread in _open(uwf, threads)]
    chains = dict[str, dict[int, str]]()
    highest, before = Counter[str](), dict[tuple[str, str], int]()
    acked = set[str]()
    for line in lines:
        kind, *words = line.split()
        if kind not in ("claim", "ack"):
            continue
        process, thread, *step = words
        if step:
            number, ref = int(step[0]), step[1]
            chain_of = chains.setdefault(thread, _chain(uwf, thread))
            # A step begins after the previous line of its worker; one that was acknowledged before
            # that line comes earlier in the chain. (Of steps at the same time, any may be first.)
            if ref in acked or chain_of.get(number) != ref or before[process, thread] >= number:
                wrong.append(f"{thread}: {line}, after {before[process, thread]} were acknowledged")
            acked.add(ref)
            highest[thread] = max(highest[thread], number)
        before[process, thread] = highest[thread]
    for thread, chain_of in chains.items():
        if [*chain_of] != [*range(1, len(chain_of) + 1)]:
            wrong.append(f"{thread}: its steps are {[*chain_of]}")
    return wrong


def _lost(uwf: Client, thread: str) -> str:
    """How a thread that did not end stands, with its tree, to find the reason by."""
    shown, row = uwf.show(thread), uwf.queued.backend.row(thread)
    tree = [
        f"{each['thread']} {each['status']}, {uwf.queued.backend.row(each['thread'])}"
        for each in uwf.list(ThreadFilter(all=True, children=True))
        if each["parent"] == thread
    ]
    waiting = [each for each in uwf.queued.backend.waiting(50) if each.thread == thread]
    return (
        f"{thread} was lost: {shown['status']} ({shown['suspendMessage']}) after "
        f"{shown['steps']} steps; row {row}; waiting {waiting}; called {tree}"
    )


def _chain(uwf: Client, thread: str) -> dict[int, str]:
    rows: list[Any] = [row for row in uwf.steps(thread) if row["number"] > 0]
    return {row["number"]: row["step"] for row in sorted(rows, key=lambda row: row["number"])}


def main() -> int:
    """The long form."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--workers", type=int, default=8)
    words.add_argument("--faults", type=int, default=200)
    words.add_argument("--seconds", type=float, default=float("inf"), help="no faults afterwards")
    words.add_argument("--engine", default="procrastinate", choices=["procrastinate", "none"])
    words.add_argument("--kinds", nargs="+", default=KINDS, choices=[*dict.fromkeys(KINDS)])
    words.add_argument("--fans", type=float, default=0.2, help="the share of threads with branches")
    given = words.parse_args()
    from conftest import made_for_workers

    # A crash forgets more of what did not wait for the disk: two seconds instead of 0.2.
    server, folder = Server(wal_writer_delay="2s"), Path(tempfile.mkdtemp(prefix="uwf-chaos-"))
    try:
        url = made_for_workers(server, lease=str(LEASE_SECONDS))
        report = run(server, url, folder, seed=given.seed, workers=given.workers,
                     faults=given.faults, engine=given.engine,
                     seconds=given.seconds, kinds=given.kinds, fans=given.fans)  # fmt: skip
        sys.stdout.write(f"seed {given.seed}, {given.workers} workers: {report}\n")
        sys.stdout.writelines(f"  {each}\n" for each in report.wrong)
        if report.wrong:
            sys.stdout.write(f"  what the workers said is in {folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)
        return 1 if report.wrong else 0
    finally:
        server.remove()


if __name__ == "__main__":
    sys.exit(main())
