"""The report of an edit, in Markdown, for people who know the work and not statistics."""

from collections.abc import Iterator
from math import fsum
from typing import TYPE_CHECKING, Any

from uwf_core.client import Client
from uwf_eval.records import Trial
from uwf_eval.store.results import Results
from uwf_improve.edit.catalog import Edits
from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.sealed.catalog import Sets
from uwf_improve.sealed.records import SealedTest, SetRecord

if TYPE_CHECKING:
    from uwf_improve.documents import ReportDocument

_SHOWN = 5


def report_of(client: Client, edit: WorkflowEdit) -> "ReportDocument":
    """The report with its figures; those of an edit that is not accepted stay sealed."""
    state = Edits(client).state(edit.edit)
    tested = _tested(client, edit)
    lines = list(_head(edit, str(state)))
    if tested is not None:
        lines += _result(client, edit, *tested)
    lines += ["", "## The change", "", "```diff", edit.patch().rstrip(), "```", ""]
    return {
        "edit": edit.edit,
        "state": state,
        "gain": tested and tested[1].gain,
        "low": tested and tested[1].low,
        "patch": edit.patch(),
        "report": "\n".join(lines),
    }


def _tested(client: Client, edit: WorkflowEdit) -> tuple[SetRecord, SealedTest, int] | None:
    for record in Sets(client).known():
        for index, test in enumerate(record.tests, 1):
            if test.edit == edit.edit and test.verdict is not None:
                return Sets(client).read(record.set), test, index
    return None


def _head(edit: WorkflowEdit, state: str) -> Iterator[str]:
    yield f"# {edit.workflow}: edit {edit.edit}, {state}"
    if edit.why:
        yield f"\n{edit.why}"
    yield "\n## What was seen\n"
    for each in edit.findings:
        steps = ", ".join(each.steps[:2])
        yield f"- {each.text}" + (f" (steps {steps})" if steps else "")
    if not edit.findings:
        yield "- The edit cites no finding."


def _result(
    client: Client, edit: WorkflowEdit, record: SetRecord, test: SealedTest, index: int
) -> Iterator[str]:
    yield "\n## The test\n"
    if test.verdict != "accepted" or test.gain is None:
        yield (
            f"**Not accepted** by test {test.number} of the set {record.set}. Its trials stay "
            "sealed, so this report has no figures."
        )
        return
    bar = record.bar
    unit = " points" if bar.metric in ("score", "success") else ""
    low = test.gain if test.low is None else test.low
    run = next((e for e in Results(client).runs() if e.name == f"{record.set}.test.{index}"), None)
    trials = Results(client).trials(run.run) if run is not None else []
    tasks = _tested_tasks(record, {each.cell.task for each in trials})
    yield (
        f"**The {bar.metric} is better by at least {low * 100:.0f}{unit}** on {tasks} that "
        f"nobody saw while the edit was made; the estimate is {test.gain * 100:.0f}{unit}."
    )
    yield (
        f"\nWithout a real improvement, such a result comes up in less than {test.level:.2%} of "
        f"tests (p = {test.p:.2g}). Each task ran {_times(bar.repeats)} with both versions."
    )
    yield ""
    yield from _costs(trials, edit)
    worse = list(_worse(trials, edit))
    yield "\n### Tasks that became worse\n"
    yield from worse[:_SHOWN] or ["- none"]
    if len(worse) > _SHOWN:
        yield f"- and {len(worse) - _SHOWN} more"
    if run is not None:
        yield f"\nAll trials: `uwf eval report {run.run}`"


def _tested_tasks(record: SetRecord, names: set[str]) -> str:
    sources = len({each.unit for each in record.tasks if each.name in names})
    same = sources == len(names)
    return f"{len(names)} tasks" + ("" if same else f" of {sources} different sources")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _costs(trials: list[Trial] | Any, edit: WorkflowEdit) -> Iterator[str]:
    for name, ref in (("before", edit.champion), ("after", edit.challenger)):
        side = [each for each in trials if each.cell.workflow == ref]
        costs = [each.usage.cost_usd for each in side]
        known = [each for each in costs if each is not None]
        price = f"${fsum(known) / len(known):.4g}" if known else "unknown"
        time = fsum(each.duration_ms for each in side) / max(len(side), 1) / 1000
        yield f"- {name}: {price} and {time:.3g} s a trial"


def _worse(trials: Any, edit: WorkflowEdit) -> Iterator[str]:
    """Counter-examples: the tasks whose mean score is lower after the edit."""
    scores: dict[str, tuple[list[float], list[float]]] = {}
    for each in trials:
        if each.score is not None:
            sides = scores.setdefault(each.cell.task, ([], []))
            sides[each.cell.workflow == edit.challenger].append(each.score)
    changed = [
        (fsum(b) / len(b) - fsum(a) / len(a), task) for task, (a, b) in scores.items() if a and b
    ]
    for change, task in sorted(changed):
        if change < 0:
            yield f"- {task}: {change * 100:+.0f} points"
