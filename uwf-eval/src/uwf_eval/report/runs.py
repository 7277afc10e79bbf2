"""The list of runs, one per line."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.commands import Screen
from uwf_core.fields.records import camel
from uwf_eval.records import Run
from uwf_eval.report.numbers import utc
from uwf_eval.report.tables import Heading, Row, Table, table_text

if TYPE_CHECKING:
    from uwf_eval.documents import RunRow

_HEADINGS = (
    Heading("Run"),
    Heading("Name", least=8),
    Heading("Started", rank=2),
    Heading("Trials", "number"),
    Heading("States", least=12, rank=1),
    Heading("Tasks", least=8, rank=3),
)
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
    """The text of `list`."""
    rows = [_row(each) for each in document["runs"]]
    return table_text(Table("Runs", _HEADINGS, rows), screen) or "no runs\nnext: uwf eval run TASK"


def _row(each: Mapping[str, Any]) -> Row:
    tasks: Sequence[str] = each["tasks"]
    more = f" +{len(tasks) - _SHOWN}" if len(tasks) > _SHOWN else ""
    states = [(each["states"][camel(state)], state.replace("_", " ")) for state in _STATES]
    return Row((
        each["run"],
        each["name"],
        utc(each["startedAtMs"]).removesuffix(" UTC"),
        f"{each['trials']:,}",
        ", ".join(f"{number:,} {word}" for number, word in states if number),
        ", ".join(tasks[:_SHOWN]) + more,
    ))  # fmt: skip
