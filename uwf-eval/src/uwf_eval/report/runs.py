"""The runs, one a line."""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.commands import Column, Screen, clean, table
from uwf_eval.records import Run
from uwf_eval.report.numbers import utc

_COLUMNS = (
    Column("run", "RUN"),
    Column("name", "NAME", least=8),
    Column("began", "BEGAN", rank=2),
    Column("trials", "TRIALS", right=True),
    Column("states", "STATES", least=12, rank=1),
    Column("tasks", "TASKS", least=8, rank=3),
)
_SHOWN = 3


def run_row(run: Run, counts: Mapping[str, int]) -> dict[str, Any]:
    """A run as `list` tells of it.

    Args:
        run: the run. counts: how many of its trials that began are in which state.
    """
    begun = {state: number for state, number in counts.items() if state != "not_run"}
    return {
        "run": run.run,
        "name": run.name,
        "startedAtMs": run.started_at_ms,
        "finishedAtMs": run.finished_at_ms,
        "trials": run.trials,
        "states": {
            "scored": begun.get("scored", 0),
            "failed": begun.get("failed", 0),
            "infraError": begun.get("infra_error", 0),
            "notRun": max(run.trials - sum(begun.values()), 0),
            "tampered": begun.get("tampered", 0),
        },
        "tasks": [task.name for task in run.tasks],
        "workflows": list(run.workflows),
        "agents": list(run.agents),
        "models": list(run.models),
        "repeat": run.repeat,
    }


def runs_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `list`."""
    rows = [_row(each) for each in document["runs"]]
    return table(_COLUMNS, rows, screen) if rows else "no runs yet; `uwf-eval run TASK` makes one"


def _row(each: Mapping[str, Any]) -> Mapping[str, str]:
    tasks: Sequence[str] = each["tasks"]
    more = f" +{len(tasks) - _SHOWN}" if len(tasks) > _SHOWN else ""
    words = (
        ("scored", "scored"),
        ("failed", "failed"),
        ("infraError", "infra error"),
        ("tampered", "tampered"),
        ("notRun", "not run"),
    )
    states = each["states"]
    return {
        "run": each["run"],
        "name": clean(each["name"]),
        "began": utc(each["startedAtMs"]).removesuffix(" UTC"),
        "trials": f"{each['trials']:,}",
        "states": ", ".join(f"{states[key]:,} {word}" for key, word in words if states[key]),
        "tasks": clean(", ".join(tasks[:_SHOWN]) + more),
    }
