"""`uwf web`: its start, a page of many threads, and how long a change takes to reach a browser."""

import gzip
import http.client
import json
import os
import subprocess
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from benchmarks.figures import Figure
from benchmarks.measure import PYTHON, UWF
from benchmarks.world import User

START_MS, LIST_MS, EVENT_MS = 300, 150, 500
ASSET_KB, THREAD_KB, STEPS = 60, 100, 2_000


class Served:
    """A server of a user's pages, and a browser that is logged in."""

    def __init__(self, user: User) -> None:
        self._began = time.perf_counter()
        self.process = subprocess.Popen(
            [UWF, "web", "--port", "0"], cwd=user.project, env=user.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        lines = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            lines.append(line)
            if line == "}\n":
                break
        self._link = urlsplit(json.loads("".join(lines))["url"])
        self._host = self._link.netloc
        self._connection = http.client.HTTPConnection("127.0.0.1", self._link.port or 80)
        answer = self._request(f"/?{self._link.query}")
        self._cookie = str(answer.headers["set-cookie"]).partition(";")[0]
        self.get("/")
        self.started_ms = (time.perf_counter() - self._began) * 1000

    _cookie = ""

    def _request(self, path: str) -> http.client.HTTPResponse:
        headers = {"host": self._host, "cookie": self._cookie}
        self._connection.request("GET", path, headers=headers)
        answer = self._connection.getresponse()
        self.body = answer.read()
        return answer

    def get(self, path: str) -> bytes:
        """The body of a page.

        Raises:
            RuntimeError: the answer is not 200.
        """
        answer = self._request(path)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}: {self.body.decode()}")
        return self.body

    def stream(self) -> http.client.HTTPResponse:
        """The stream of changes, on a separate connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self._link.port or 80, timeout=30)
        connection.request("GET", "/stream", headers={"host": self._host, "cookie": self._cookie})
        return connection.getresponse()

    @property
    def processor_ms(self) -> float:
        """The processor time of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def pages(folder: Path, rounds: int, threads: int) -> Iterator[Figure]:
    """The figures of `uwf web`."""
    user = User(folder / "web")
    user.threads(threads)
    starts, pythons, work = [], [], []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(PYTHON, check=True)
        pythons.append((time.perf_counter() - began) * 1000)
        served = Served(user)
        starts.append(served.started_ms)
        work.append(served.processor_ms)
        served.stop()
    note = f"{min(work):.0f} ms of processor time; a bare Python: {median(pythons):.0f} ms"
    yield Figure(
        "uwf web: start to the end of the first page", median(starts), "ms", START_MS, note
    )
    served = Served(user)
    try:
        served.get("/threads")
        took = [_ms(lambda: served.get("/threads")) for _ in range(rounds)]
        yield Figure(f"a page of the list of {threads:,} threads", median(took), "ms", LIST_MS)
        yield _event(user, served, rounds)
        thread = f"/threads/{user.thread(STEPS)}"
        size = len(served.get(thread)) / 1024
        took = [_ms(lambda: served.get(thread)) for _ in range(rounds)]
        yield Figure(f"the page of a thread of {STEPS:,} steps", median(took), "ms")
        yield Figure("its size", size, "KB", THREAD_KB)
    finally:
        served.stop()
    size = sum(
        len(gzip.compress(file.read_bytes()))
        for file in files("uwf_web").joinpath("static").iterdir()
        if file.name.endswith((".js", ".css"))
    )
    yield Figure("scripts and style sheets, compressed", size / 1024, "KB", ASSET_KB)


def _event(user: User, served: Served, rounds: int) -> Figure:
    """From a commit of another process to the page that shows it, as a script would read it."""
    from uwf_core.client import Client

    took = []
    with Client.open(env=user.environment, cwd=user.project) as uwf, served.stream() as stream:
        _await_event(stream)
        for _ in range(rounds):
            thread = uwf.start("loop", "a task")["thread"]
            began = time.perf_counter()
            _await_event(stream)
            assert thread.encode() in served.get("/threads")
            took.append((time.perf_counter() - began) * 1000)
    return Figure("a commit to the page that shows it", max(took), "ms", EVENT_MS, "the slowest")


def _await_event(stream: http.client.HTTPResponse) -> None:
    while not stream.readline().startswith(b"id: "):
        pass


def _ms(work: Any) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000
