"""The same durable step in another engine: LangGraph with its SQLite saver, durability sync.

By hand: `nox -s bench -- --peers` installs it. One node of the graph appends 200 characters to its
state and loops; every superstep is a checkpoint in SQLite.
"""

import time
from pathlib import Path
from statistics import median
from typing import Any, TypedDict

STEPS = 50


class State(TypedDict):
    """What LangGraph checkpoints after each step."""

    count: int
    text: str


def langgraph_step_ms(folder: Path, rounds: int = 5) -> float:
    """The ms of one durable step within a process: median of some runs of fifty steps."""
    import sqlite3

    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    def work(state: State) -> State:
        return {"count": state["count"] + 1, "text": "x" * 200}

    graph: Any = StateGraph(State)
    graph.add_node("worker", work)
    graph.add_edge(START, "worker")
    graph.add_conditional_edges(
        "worker", lambda state: END if state["count"] >= STEPS else "worker"
    )
    connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
    connection.execute("PRAGMA synchronous=FULL")
    times = []
    try:
        app = graph.compile(checkpointer=SqliteSaver(connection))
        for number in range(rounds):
            config = {"configurable": {"thread_id": str(number)}, "recursion_limit": STEPS + 10}
            started = time.perf_counter()
            app.invoke({"count": 0, "text": ""}, config, durability="sync")
            times.append((time.perf_counter() - started) / STEPS * 1000)
    finally:
        connection.close()
    return median(times)
