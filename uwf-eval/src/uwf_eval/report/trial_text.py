"""One trial, for people: where it stands, what it did, what each judge said, where to read on."""

import json
from collections.abc import Mapping
from typing import Any

from uwf_core.commands import Column, Screen, clean, duration, fields, table
from uwf_eval.records import JudgeResult, Trial
from uwf_eval.report.amounts import tokens_of
from uwf_eval.report.numbers import dollars, score, tokens, utc

_STEPS = (
    Column("number", "#", right=True),
    Column("role", "ROLE", least=8),
    Column("status", "STATUS", least=6),
    Column("agent", "AGENT", least=5, rank=3),
    Column("time", "TIME", right=True),
    Column("tokens", "TOKENS", right=True, rank=1),
    Column("cost", "COST", right=True, rank=2),
    Column("trouble", "SENT BACK", right=True, rank=4),
)
_DATA = 2000


def trial_text(trial: Trial, screen: Screen) -> str:
    """The whole trial."""
    cell = trial.cell
    state = trial.state.replace("_", " ")
    if trial.state == "scored":
        state += ", passed" if trial.passed else ", not passed"
    failure = (
        ": ".join(filter(None, (trial.failure.kind, trial.failure.message)))
        if (trial.failure and not trial.tampered)
        else None
    )
    head = fields(
        [
            ("trial", f"{trial.run}/{trial.number}"),
            ("state", screen.paint(state, "ok" if trial.passed else "bold")),
            ("score", score(trial.score) if trial.score is not None else None),
            ("why", clean(failure) if failure else None),
            ("touched", clean("\n".join(trial.tampered)) or None),
            ("task", clean(cell.task)),
            ("case", clean(cell.case) or None),
            ("repeat", str(cell.repeat)),
            ("workflow", clean(f"{cell.workflow_name} {cell.workflow}")),
            ("agent", clean(cell.agent or "as configured")),
            ("model", clean(cell.model or "as configured")),
            ("began", utc(trial.started_at_ms) if trial.started_at_ms else None),
            ("took", duration(trial.duration_ms) if trial.started_at_ms else None),
            ("used", _used(trial)),
            ("thread", f"{trial.thread} ({trial.status})" if trial.thread else None),
            ("attempt", str(trial.attempt) if trial.attempt > 1 else None),
        ],
        screen,
    )
    parts = [head]
    if trial.steps:
        parts.append(table(_STEPS, _steps(trial), screen))
    parts += [_judge(each, screen) for each in trial.judges]
    parts += [_onward(trial, screen)]
    return "\n\n".join(part for part in parts if part)


def reading(trial: Trial) -> list[str]:
    """The commands that tell more of a trial's thread."""
    if trial.thread is None:
        return []
    return [
        f"uwf thread read {trial.thread}",
        f"uwf step turns {trial.thread}",
        f"uwf-eval export {trial.run}/{trial.number} -o trial.tar",
    ]


def _used(trial: Trial) -> str | None:
    known = tokens_of(trial.usage)
    parts = [f"{tokens(known)} tokens"] if known is not None else []
    parts += [dollars(trial.usage.cost_usd)] if trial.usage.cost_usd is not None else []
    return ", ".join(parts) or None


def _steps(trial: Trial) -> list[Mapping[str, Any]]:
    return [
        {
            "number": str(number),
            "role": clean(step.role),
            "status": clean(step.status or "–"),
            "agent": clean(step.agent),
            "time": duration(step.duration_ms),
            "tokens": tokens(tokens_of(step.usage)),
            "cost": dollars(step.usage.cost_usd),
            "trouble": str(step.corrections + step.attempts or ""),
        }
        for number, step in enumerate(trial.steps, 1)
    ]


def _judge(each: JudgeResult, screen: Screen) -> str:
    """A judge's score and its data."""
    weight = f"weight {each.weight:g}" if each.weight else "informs only"
    value = "failed" if each.error is not None else score(each.score)
    head = f"{screen.paint(clean(each.name), 'bold')} {value}  {clean(each.judge)}, {weight}"
    lines = [head]
    if each.scores:
        scores = ", ".join(score(one) for one in each.scores)
        lines.append(f"  asked {len(each.scores)} times: {scores}; agrees {score(each.agreement)}")
    if each.error is not None:
        lines.append(f"  {screen.paint(clean(each.error), 'error')}")
    if each.data:
        shown = clean(json.dumps(each.data, ensure_ascii=False, indent=2))
        cut = shown[:_DATA] + ("\n… (--format json has all)" if len(shown) > _DATA else "")
        lines += [f"  {line}" for line in cut.splitlines()]
    return "\n".join(lines)


def _onward(trial: Trial, screen: Screen) -> str:
    again = [f"uwf-eval resume {trial.run}"] if trial.state in ("infra_error", "not_run") else []
    return "\n".join(screen.paint(f"`{line}`", "dim") for line in (*again, *reading(trial)))
