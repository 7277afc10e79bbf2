"""One trial as text: its state, its steps, each judge's result, and commands that show more."""

import json

from uwf_core.commands import Screen, clean, duration, fields
from uwf_eval.records import JudgeResult, Trial
from uwf_eval.report.numbers import NONE, cost_of, score, tokens_of, utc
from uwf_eval.report.tables import Columns, Heading, table_of, table_text

_STEPS: Columns = (
    (Heading("#", "number"), lambda each: str(each[0])),
    (Heading("Role", least=8), lambda each: each[1].role),
    (Heading("Status", least=6), lambda each: each[1].status or NONE),
    (Heading("Agent", least=5, rank=3), lambda each: each[1].agent),
    (Heading("Time", "number"), lambda each: duration(each[1].duration_ms)),
    (Heading("Tokens", "number", rank=1), lambda each: tokens_of(each[1].usage)),
    (Heading("Cost", "number", rank=2), lambda each: cost_of(each[1].usage)),
    (Heading("Corrections", "number", rank=4), lambda each: str(each[1].corrections or "")),
    (Heading("Failed attempts", "number", rank=5), lambda each: str(each[1].attempts or "")),
)
_DATA = 2000


def trial_text(trial: Trial, screen: Screen) -> str:
    """Render the whole trial."""
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
            ("reason", clean(failure) if failure else None),
            ("changed", clean("\n".join(trial.tampered)) or None),
            ("task", clean(cell.task)),
            ("case", clean(cell.case) or None),
            *_recorded(trial),
            ("repeat", str(cell.repeat)),
            ("workflow", clean(f"{cell.workflow_name} {cell.workflow}")),
            ("agent", clean(cell.agent or "as configured")),
            ("model", clean(cell.model or "as configured")),
            ("started", utc(trial.started_at_ms) if trial.started_at_ms else None),
            ("duration", duration(trial.duration_ms) if trial.started_at_ms else None),
            ("used", _used(trial)),
            ("thread", f"{trial.thread} ({trial.status})" if trial.thread else None),
            ("attempt", str(trial.attempt) if trial.attempt > 1 else None),
        ],
        screen,
    )
    judges = [_judge(each, screen) for each in trial.judges]
    steps = table_of("Steps", _STEPS, enumerate(trial.steps, 1))
    parts = [head, table_text(steps, screen), *judges, _onward(trial, screen)]
    return "\n\n".join(part for part in parts if part)


def _recorded(trial: Trial) -> list[tuple[str, str | None]]:
    """The recorded step of the trial, and how the trial compares with it."""
    found = trial.recorded
    if found is None:
        return []
    other = [name for name, equal in found.fields.items() if not equal]
    prompt = {None: None, True: "as recorded", False: "changed"}[found.prompt]
    return [
        ("recorded", f"step {found.step}: {clean(found.status)}"),
        ("differs", clean(", ".join(other)) or None),
        ("prompt", "of a new session" if found.session == "fresh" else prompt),
        ("session", found.session),
        ("files", found.files),
    ]


def reading(trial: Trial) -> list[str]:
    """The commands that show the trial's thread."""
    if trial.thread is None:
        return []
    return [
        *([] if trial.recorded is None else [f"uwf step show {trial.recorded.step}"]),
        f"uwf thread read {trial.thread}",
        f"uwf step turns {trial.thread}",
        f"uwf eval export {trial.run}/{trial.number} -o trial.tar",
    ]


def _used(trial: Trial) -> str | None:
    usage = trial.usage
    parts = [f"{tokens_of(usage)} tokens"] if usage.tokens is not None else []
    parts += [cost_of(usage)] if usage.cost_usd is not None else []
    return ", ".join(parts) or None


def _judge(each: JudgeResult, screen: Screen) -> str:
    """A judge's score and its data."""
    weight = f"weight {each.weight:g}" if each.weight else "informational"
    value = "failed" if each.error is not None else score(each.score)
    head = f"{screen.paint(clean(each.name), 'bold')} {value}  {clean(each.judge)}, {weight}"
    lines = [head]
    if each.scores:
        scores = ", ".join(score(one) for one in each.scores)
        agreement = f"agreement {score(each.agreement)}"
        lines.append(f"  asked {len(each.scores)} times: {scores}; {agreement}")
    if each.error is not None:
        lines.append(f"  {screen.paint(clean(each.error), 'error')}")
    if each.data:
        shown = clean(json.dumps(each.data, ensure_ascii=False, indent=2))
        cut = shown[:_DATA] + ("\n… (--format json has all)" if len(shown) > _DATA else "")
        lines += [f"  {line}" for line in cut.splitlines()]
    return "\n".join(lines)


def _onward(trial: Trial, screen: Screen) -> str:
    again = [f"uwf eval resume {trial.run}"] if trial.state in ("infra_error", "not_run") else []
    lines = (*again, *reading(trial))
    return "\n".join(screen.paint(f"next: {line}", "dim") for line in lines)
