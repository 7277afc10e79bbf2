"""The builtin agent: a turn beside a bare request, long runs, searching, the price of a prompt."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from benchmarks.figures import Figure
from benchmarks.measure import PYTHON
from benchmarks.prompts import prompts
from uwf_agent_builtin.agent import BuiltinAgent
from uwf_agent_builtin.options import BuiltinOptions
from uwf_agent_builtin.protection import Protection
from uwf_agent_builtin.tools.folders import LIST_FILES
from uwf_agent_builtin.tools.grep import GREP
from uwf_agent_builtin.tools.record import CallContext
from uwf_agent_builtin.workspace import Workspace
from uwf_core.api import AgentContext, AgentRequest, Call, MaxTurns, Model, Turn, Usage

if TYPE_CHECKING:
    import httpx


class _Quick(BaseHTTPRequestHandler):
    """Answers every request with the same call of a tool, at once."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    answer = b""
    sizes: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        self.rfile.read(size)
        self.sizes.append(size)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


class _Server:
    """A model that lists the folder for ever."""

    def __init__(self) -> None:
        function = {"name": "list_files", "arguments": "{}"}
        call = {"id": "1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        document = {"choices": [choice], "usage": usage}
        self.sizes: list[int] = []
        answers = {"answer": json.dumps(document).encode(), "sizes": self.sizes}
        handler = type("Quick", (_Quick,), answers)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Times:
    """A sink that records the time of each turn."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.at: list[float] = []
        self._clock = clock

    def turn(self, turn: Turn) -> None:
        if turn.role == "assistant" and turn.tool_calls[0].result is not None:
            self.at.append(self._clock())

    def session(self, session: str) -> None:
        del session

    def usage(self, usage: Usage) -> None:
        del usage


def _run(
    folder: Path, url: str, turns: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds of each turn of a run of so many."""
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    options = BuiltinOptions(max_turns=turns, stream=False)
    agent = BuiltinAgent(options, AgentContext(name="b", state_dir=str(folder / "state")))
    model = Model(alias="m", name="m", provider="p", base_url=url)
    request = AgentRequest(
        thread="T", role="r", step_number=1, cwd=str(work), prompt="Do it.", model=model
    )
    sink = _Times(clock)
    try:
        agent.run(request, sink)
    except MaxTurns:
        agent.close()
    return [after - before for before, after in zip(sink.at, sink.at[1:], strict=False)]


def turns(folder: Path, length: int) -> Iterator[Figure]:
    """A turn with a tool beside a bare httpx call; a long run: time and memory linear."""
    import httpx

    with _Server() as server:
        bare, ours = [], []
        with httpx.Client() as client:
            for number in range(5):  # in turns, since others use the machine as well
                bare.append(median(_bare(client, server.url) for _ in range(100)))
                ours.append(median(_run(folder / f"short-{number}", server.url, 50)))
        ms = (min(ours) - min(bare)) * 1000
        yield Figure("builtin, overhead of a turn", ms, "ms", note="list_files included, median")
        yield Figure("builtin, a turn", min(ours) / min(bare), "x a bare httpx call")
        yield from _long(folder / "long", server, length)


def _bare(
    client: "httpx.Client",
    url: str,
    size: int = 20,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    body = b"x" * size
    started = clock()
    client.post(f"{url}/chat/completions", content=body)
    return clock() - started


def _long(folder: Path, server: _Server, length: int) -> Iterator[Figure]:
    """The prompts of a long run grow, and so does the time to send them: what is left of a turn
    when a bare call with as many bytes is taken away must not grow. In time of the processor, which
    knows nothing of others on the machine; that of the server is in both.
    """
    import httpx

    own = []
    for number in range(3):
        server.sizes.clear()
        times = _run(folder / f"time-{number}", server.url, length, time.process_time)
        sizes = server.sizes[1 : length + 1]
        with httpx.Client() as client:
            bare = [_bare(client, server.url, size, time.process_time) for size in sizes]
        own.append([turn - call for turn, call in zip(times, bare, strict=True)])
    best = [min(each) for each in zip(*own, strict=True)]
    half = len(best) // 2
    growth = median(best[half:]) / median(best[:half])
    name = f"builtin, a run of {length} turns"
    yield Figure(f"{name}: second half to first", growth, "x", 1.5, "a turn without its sending")
    peaks = {turns: _peak(folder / f"peak-{turns}", server, turns) for turns in (half, length)}
    yield Figure(f"{name}: peak memory", peaks[length], "MB", note="traced")
    yield Figure(f"{name}: memory to that of half", peaks[length] / peaks[half], "x", 2.2)


def _peak(folder: Path, server: _Server, turns: int) -> float:
    tracemalloc.start()
    _run(folder, server.url, turns)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def imports(rounds: int) -> Iterator[Figure]:
    """What importing the plugin module and the agent costs."""
    for module in ("uwf_agent_builtin.plugin", "uwf_agent_builtin.agent"):
        ours, base = [], []
        for _ in range(rounds):
            base.append(_seconds(PYTHON))
            ours.append(_seconds([sys.executable, "-c", f"import {module}"]))
        yield Figure(f"import {module}", median(ours) / median(base), "x py")


def search(folder: Path, files: int) -> Iterator[Figure]:
    """grep and list_files on a large tree, beside git and ripgrep."""
    work = _tree(folder / "tree", files)
    workspace = Workspace(str(work), Protection())
    call = Call(thread="T", role="r", step_number=1, cwd=str(work), env=dict(os.environ))
    bench = CallContext(
        workspace=workspace, call=call, options=BuiltinOptions(), seconds_left=lambda: 60.0
    )
    grep = _best(lambda: GREP.run({"pattern": "needle_[0-9]+x"}, bench))
    found = _best(lambda: LIST_FILES.run({"pattern": "*7.py"}, bench))
    workspace.close()
    peers: dict[str, list[str]] = {
        "git grep": ["git", "grep", "-E", "--untracked", "needle_[0-9]+x"],
        "rg": ["rg", "needle_[0-9]+x"],
    }
    for name, argv in peers.items():
        there = shutil.which(argv[0]) is not None
        seconds = _best(lambda argv=argv: _status(argv, work)) if there else None
        ratio = grep / seconds if seconds else None
        note = f"{grep:.2f} s on {files:,} files" if there else f"no {argv[0]} here"
        yield Figure("builtin grep", ratio, f"x {name}", note=note)
    listed = _best(lambda: _status(["git", "ls-files", "-co", "--exclude-standard"], work))
    yield Figure("builtin list_files", found / listed, "x git ls-files", note=f"{found:.2f} s")


def _tree(work: Path, files: int) -> Path:
    for number in range(files):
        file = work / f"d{number % 50}" / f"e{number // 50 % 40}" / f"f{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def f{number}():\n    return 'needle_{number}'\n" * 5)
    (work / ".gitignore").write_text("*.log\n/build/\n")
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    return work


def _status(argv: list[str], cwd: Path) -> None:
    subprocess.run(argv, cwd=cwd, capture_output=True)


def _seconds(argv: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(argv, check=True)
    return time.perf_counter() - started


def _best(work: Any) -> float:
    """The shortest of three."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def all_figures(folder: Path, rounds: int, files: int, *, peers: bool) -> Iterator[Figure]:
    """Every figure of the builtin agent; `peers` adds another agent."""
    if peers:
        from benchmarks.builtin_peers import beside_mini

        yield from beside_mini(folder)
    yield from turns(folder, 200)
    yield from imports(rounds)
    yield from prompts(folder / "prompts")
    yield from search(folder, files)
