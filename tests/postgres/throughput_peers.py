"""The chain of mock steps in DBOS and in LangGraph with its PostgreSQL checkpointer, on the server
of `throughput.py --peers FOLDER`, which installs them into an environment there.

Each has as many processes as uwf has workers, a database to itself and the settings that its guide
begins with. A process runs a thread to get warm, then its share of them, one after the other: no
queue hands them out, as it does to the workers of uwf. Each step is recorded before the next one
begins.
"""

import json
import subprocess
import sys
import time
import venv
from pathlib import Path

from postgres_server import Server, cpu_seconds

VERSIONS = {
    "dbos": "3.4.0",
    "langgraph": "1.2.24",
    "langgraph-checkpoint-postgres": "3.2.0",
    "psycopg[binary]": "3.3.9",
}
_DBOS = """\
from dbos import DBOS

DBOS(config={"name": "chain", "system_database_url": url, "run_admin_server": False})

@DBOS.step()
def step(role: str) -> dict:
    return {"$status": "done"}

@DBOS.workflow()
def chain(task: str) -> None:
    for role in roles:
        step(role)

DBOS.launch()
serve(lambda number: chain(f"Task {number}."))
DBOS.destroy()
"""
_LANGGRAPH = """\
from typing import TypedDict
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph

class State(TypedDict):
    task: str
    status: str

graph = StateGraph(State)
for role in roles:
    graph.add_node(role, lambda state: {"status": "done"})
for before, after in zip([START, *roles], [*roles, END]):
    graph.add_edge(before, after)
with PostgresSaver.from_conn_string(url) as saver:
    saver.setup()
    app = graph.compile(checkpointer=saver)

    def run(number):
        config = {"configurable": {"thread_id": str(number)}}
        app.invoke({"task": f"Task {number}.", "status": ""}, config, durability="sync")

    serve(run)
"""
_PROCESS = """\
import json, sys
url, roles, first, count = json.loads(sys.argv[1])

def serve(run):
    run(first)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(first + 1, first + 1 + count):
        run(number)
    print("done", flush=True)
    sys.stdin.readline()

"""
PROGRAMS = {"dbos": _DBOS, "langgraph": _LANGGRAPH}


def figures(
    server: Server, folder: Path, workers: int, threads: int, roles: list[str]
) -> dict[str, dict[str, float]]:
    """The figures of each, as those of uwf."""
    python = _installed(folder)
    return {
        name: _figures(
            server, [str(python), "-c", _PROCESS + program], name, workers, threads, roles
        )
        for name, program in PROGRAMS.items()
    }


def _installed(folder: Path) -> Path:
    """The Python of an environment with the peers, made at the first call."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    wanted = [f"{name}=={version}" for name, version in VERSIONS.items()]
    subprocess.run([python, "-m", "pip", "-q", "install", *wanted], check=True, stdout=sys.stderr)
    return python


def _figures(
    server: Server, words: list[str], name: str, workers: int, threads: int, roles: list[str]
) -> dict[str, float]:
    server.execute(f"CREATE DATABASE {name}")
    share = threads // workers
    processes = []
    for number in range(workers):  # one after the other: the first one creates the tables
        given = json.dumps([server.url(name), roles, number * (share + 1), share])
        process = subprocess.Popen(
            [*words, given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        processes.append(process)
        _wait_for(process, b"ready\n")
    begun, used = time.monotonic(), [cpu_seconds(each.pid) for each in processes]
    served = server.cpu_seconds()
    for process in processes:
        _next(process)
    for process in processes:
        _wait_for(process, b"done\n")
    took = time.monotonic() - begun
    own = sum(cpu_seconds(each.pid) for each in processes) - sum(used)
    served = server.cpu_seconds() - served
    for process in processes:
        _next(process)
        process.wait(60)
    steps = share * workers * len(roles)
    return {
        "steps": steps,
        "perSecond": round(steps / took, 1),
        "perCpuSecond": round(steps / (own + served), 1),
        "workerMs": round(1000 * own / steps, 2),
        "serverMs": round(1000 * served / steps, 2),
    }


def _wait_for(process: "subprocess.Popen[bytes]", word: bytes) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line == word:
            return
    raise AssertionError(f"the process ended with {process.wait()}")


def _next(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()
