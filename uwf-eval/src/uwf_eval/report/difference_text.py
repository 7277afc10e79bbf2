"""Two runs side by side, for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.commands import Column, Screen, clean, table
from uwf_eval.report.difference import Difference, Side, TaskChange, TrialChange
from uwf_eval.report.numbers import NONE, percent, plural, score, utc
from uwf_eval.report.summary import Line

_SETTINGS = (
    Column("what", "SET OTHERWISE", least=8),
    Column("a", "A", least=8),
    Column("b", "B", least=8),
)
_TASKS = (
    Column("task", "TASK", least=12),
    Column("a", "A", right=True),
    Column("b", "B", right=True),
    Column("change", "SCORE", right=True),
    Column("passed_a", "PASSED A", right=True, rank=1),
    Column("passed_b", "PASSED B", right=True, rank=1),
)
_TRIALS = (
    Column("trial", "ENDED OTHERWISE", least=12),
    Column("a", "A", least=8),
    Column("b", "B", least=8),
    Column("configuration", "CONFIGURATION", least=10, rank=1),
)


def difference_text(found: Difference, screen: Screen) -> str:
    """What changed."""
    parts = [
        _heads(found, screen),
        table(_SETTINGS, [_plain(each) for each in found.settings], screen)
        if found.settings
        else "nothing was set otherwise",
        table(_TASKS, [_task(each) for each in found.tasks], screen) if found.tasks else "",
        table(_TRIALS, [_trial(each) for each in found.trials], screen) if found.trials else "",
        _end(found, screen),
    ]
    return "\n\n".join(part for part in parts if part)


def _heads(found: Difference, screen: Screen) -> str:
    return "\n".join(
        f"{screen.paint(letter, 'bold')}  {run.run}  {utc(run.started_at_ms)}  {clean(run.name)}"
        for letter, run in (("A", found.a), ("B", found.b))
    )


def _plain(each: Any) -> Mapping[str, str]:
    return {"what": clean(each.what), "a": clean(each.a), "b": clean(each.b)}


def _task(each: TaskChange) -> Mapping[str, Any]:
    change = NONE if each.score is None else f"{each.score:+.2f}"
    return {
        "task": clean(each.task),
        "a": _mean(each.a),
        "b": _mean(each.b),
        "change": change,
        "passed_a": _passed(each.a),
        "passed_b": _passed(each.b),
    }


def _mean(line: Line | None) -> str:
    return NONE if line is None else f"{score(line.score.value)} (n {line.score.trials:,})"


def _passed(line: Line | None) -> str:
    return NONE if line is None else percent(line.success.value)


def _trial(each: TrialChange) -> Mapping[str, Any]:
    words: Sequence[str] = (each.task, each.case, f"#{each.repeat}")
    return {
        "trial": clean(" ".join(word for word in words if word)),
        "a": _side(each.a),
        "b": _side(each.b),
        "configuration": clean(each.configuration or ""),
    }


def _side(side: Side | None) -> str:
    if side is None:
        return "not there"
    if side.state == "scored":
        return f"{score(side.score)}{' passed' if side.passed else ''}"
    return side.state.replace("_", " ")


def _end(found: Difference, screen: Screen) -> str:
    more = found.changed - len(found.trials)
    lines = [f"{plural(more, 'trial')} more ended otherwise"] if more else []
    lines.append(f"{plural(found.changed, 'trial')} ended otherwise, {found.same:,} alike")
    hint = f"`uwf-eval compare {found.a.run} {found.b.run}` tells whether that is more than chance"
    return "\n".join([*lines, screen.paint(hint, "dim")])
