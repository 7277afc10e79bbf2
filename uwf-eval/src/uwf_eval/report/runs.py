"""The list of runs, one per line."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.commands import Screen
from uwf_core.fields.records import camel
from uwf_eval.records import Run
from uwf_eval.report.numbers import utc
from uwf_eval.report.tables import Columns, Heading, table_of, table_text

if TYPE_CHECKING:
    from uwf_eval.documents import RunRow

_STATES = ("scored", "failed", "infra_error", "tampered", "not_run")
_SHOWN = 3


def run_row(run: Run, counts: Mapping[str, int]) -> "RunRow":
    """A run as an entry of `list`.

    Args:
        run: the run. counts: its started trials in each state.
    """
    begun = {state: counts.get(state, 0) for state in _STATES if state != "not_run"}
    states = {**begun, "not_run": max(run.trials - sum(begun.values()), 0)}
    return {
        "run": run.run,
        "name": run.name,
        "startedAtMs": run.started_at_ms,
        "finishedAtMs": run.finished_at_ms,
        "trials": run.trials,
        "states": {camel(state): number for state, number in states.items()},
        "tasks": [task.name for task in run.tasks],
        "workflows": list(run.workflows),
        "agents": list(run.agents),
        "models": list(run.models),
        "repeat": run.repeat,
    }


def runs_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The runs as a table."""
    shown = table_of("Runs", _COLUMNS, document["runs"])
    return table_text(shown, screen) or "no runs\nnext: uwf eval run TASK"


def _states(row: Mapping[str, Any]) -> str:
    states = [(row["states"][camel(state)], state.replace("_", " ")) for state in _STATES]
    return ", ".join(f"{number:,} {word}" for number, word in states if number)


def _tasks(row: Mapping[str, Any]) -> str:
    tasks: Sequence[str] = row["tasks"]
    more = f" +{len(tasks) - _SHOWN}" if len(tasks) > _SHOWN else ""
    return ", ".join(tasks[:_SHOWN]) + more


_COLUMNS: Columns = (
    (Heading("Run"), lambda row: row["run"]),
    (Heading("Name", least=8), lambda row: row["name"]),
    (Heading("Started", rank=2), lambda row: utc(row["startedAtMs"]).removesuffix(" UTC")),
    (Heading("Trials", "number"), lambda row: f"{row['trials']:,}"),
    (Heading("States", least=12, rank=1), _states),
    (Heading("Tasks", least=8, rank=3), _tasks),
)
