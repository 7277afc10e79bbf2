"""Trials made by hand: what a comparison is made of, without anything being run."""

from collections.abc import Iterable, Sequence
from typing import Any

from uwf_core.api import Usage
from uwf_eval.records import Cell, Run, Trial

A, B = "01K9ZZZZZZ0000000000000001", "01K9ZZZZZZ0000000000000002"


def trial(run: str, task: str, repeat: int, score: float | None, **given: Any) -> Trial:
    """A scored trial; fields of its cell may be given like its own."""
    cell = {
        "task": task,
        "case": "",
        "workflow": "3F2A000000000",
        "workflow_name": "solve",
        "agent": None,
        "model": None,
        "repeat": repeat,
    }
    cell |= {key: given.pop(key) for key in list(given) if key in cell}
    values: dict[str, Any] = {
        "run": run,
        "number": hash((task, cell["case"], cell["agent"], repeat)) % 1_000_000,
        "state": "scored",
        "score": score,
        "passed": None if score is None else score >= 1.0,
        "usage": Usage(input_tokens=9000, output_tokens=1000, cost_usd=0.02),
        "task_digest": "t1",
        "fixture": "f1",
        "duration_ms": 40_000,
    }
    return Trial(cell=Cell(**cell), **{**values, **given})


def trials(run: str, scores: Iterable[Sequence[float]], **given: Any) -> list[Trial]:
    """Of each task the scores of its repeats; the tasks are called task-1, task-2, …"""
    return [
        trial(run, f"task-{number}", repeat, score, **given)
        for number, row in enumerate(scores, start=1)
        for repeat, score in enumerate(row, start=1)
    ]


def saved_run(run: str, name: str, count: int) -> Run:
    """A run that has ended."""
    return Run(
        run=run, name=name, started_at_ms=1, finished_at_ms=2, seed=0, repeat=1, jobs=1,
        tasks=(), workflows=(), agents=(), models=(), trials=count,
    )  # fmt: skip
