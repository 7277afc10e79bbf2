"""Runs made by hand: what a report is made of, without anything being run."""

import os
import random
from pathlib import Path
from typing import Any

from uwf_core.api import Usage
from uwf_eval.records import Cell, Failure, JudgeResult, Run, RunTask, Trial, TrialStep

RUN = "01K9ZZZZZZ0000000000000001"
BEGAN = 1_790_000_000_000
HOSTILE = "</title><script>alert(1)</script> \"' & \x1b[31m\u202e\ud800 |`*_"


def cell(task: str = "fix", **given: Any) -> Cell:
    values = {
        "task": task,
        "case": "",
        "workflow": "3F2A000000000",
        "workflow_name": "solve",
        "agent": None,
        "model": None,
        "repeat": 1,
    }
    return Cell(**{**values, **given})


def usage(tokens: int | None = 1000, cost: float | None = 0.01) -> Usage:
    return Usage(
        turns=3,
        input_tokens=tokens,
        output_tokens=None if tokens is None else tokens // 10,
        cost_usd=cost,
        duration_ms=2000,
    )


def step(role: str, **given: Any) -> TrialStep:
    values = {"status": "done", "agent": "mock", "duration_ms": 1500, "usage": usage()}
    return TrialStep(role=role, **{**values, **given})


def scored(number: int, points: float, where: Cell | None = None, **given: Any) -> Trial:
    values: dict[str, Any] = {
        "state": "scored",
        "passed": points >= 1,
        "judges": [
            JudgeResult(name="tests", judge="entry:judge.py", weight=1.0, score=points),
            JudgeResult(
                name="rubric",
                judge="builtin:rubric",
                weight=0.0,
                score=0.8,
                scores=[0.7, 0.9],
                agreement=0.8,
                usage=usage(50, 0.001),
            ),
        ],
        "steps": [step("developer"), step("reviewer", duration_ms=500)],
        "score": points,
        "thread": f"01K9ZZZZZZ{number:016}",
        "status": "completed",
        "usage": usage(2000, 0.02),
        "started_at_ms": BEGAN,
        "completed_at_ms": BEGAN + 2000,
        "duration_ms": 2000,
        "attempt": 1,
    }
    return Trial(run=RUN, number=number, cell=where or cell(), **{**values, **given})


def ended(number: int, state: Any, kind: str, message: str, **given: Any) -> Trial:
    """A trial without judges: `failed`, `infra_error` or `tampered`."""
    failed = state in ("failed", "tampered")
    values = {
        "state": state,
        "score": 0.0 if failed else None,
        "passed": False if failed else None,
        "judges": [],
        "failure": Failure(kind=kind, message=message),
    }
    return scored(number, 0.0, given.pop("where", None), **{**values, **given})


def not_run(number: int, where: Cell | None = None) -> Trial:
    return Trial(run=RUN, number=number, cell=where or cell(), state="not_run")


def run_of(trials: list[Trial], **given: Any) -> Run:
    names = dict.fromkeys(trial.cell.task for trial in trials)
    values = {
        "run": RUN,
        "name": "nightly",
        "started_at_ms": BEGAN,
        "finished_at_ms": BEGAN + 60_000,
        "seed": 7,
        "repeat": 5,
        "jobs": 2,
        "tasks": [
            RunTask(name=name, source="folder", place=f"tasks/{name}", digest="ab" * 32,
                    description=f"What {name} is about.")
            for name in names
        ],
        "workflows": ["3F2A000000000"],
        "agents": [None],
        "models": [None],
        "trials": len(trials),
        "command": ["run", "tasks/fix", "--repeat", "5"],
        "eval_version": "0.1.0",
        "engine_version": "0.1.0",
    }  # fmt: skip
    return Run(**{**values, **given})


def rich_run() -> tuple[Run, list[Trial]]:
    """Four tasks, two versions of a workflow, five repeats, and everything that goes wrong."""
    luck = random.Random(7)
    tasks = ("fix-off-by-one", "add-a-feature", "review-finds-the-bug", "debate")
    trials: list[Trial] = []
    for task_number, task in enumerate(tasks):
        for version, skill in (("3F2A000000000", 0.45), ("9XKB000000000", 0.75)):
            for repeat in range(1, 6):
                where = cell(task, workflow=version, repeat=repeat)
                trials.append(_trial(len(trials) + 1, where, skill - 0.1 * task_number, luck))
    trials[3] = ended(4, "infra_error", "rate_limited", "the service asks to wait",
                      where=trials[3].cell)  # fmt: skip
    trials[12] = ended(13, "failed", "invalid_output", "no $status after 2 corrections",
                       where=trials[12].cell)  # fmt: skip
    trials[13] = ended(14, "failed", "invalid_output", "no $status after 2 corrections",
                       where=trials[13].cell)  # fmt: skip
    trials[25] = ended(26, "tampered", "tampered", "", where=trials[25].cell,
                       tampered=["tests/test_sum.py"])  # fmt: skip
    trials[39] = not_run(40, trials[39].cell)
    return run_of(trials, workflows=["3F2A000000000", "9XKB000000000"]), trials


def _trial(number: int, where: Cell, skill: float, luck: random.Random) -> Trial:
    score = 1.0 if luck.random() < skill else round(luck.random() * 0.8, 2)
    rounds = 1 if luck.random() < 0.6 else luck.randint(2, 3)
    steps = [
        part
        for _ in range(rounds)
        for part in (
            step("developer", duration_ms=luck.randint(20_000, 90_000), usage=usage(12_000, 0.04)),
            step("reviewer", duration_ms=luck.randint(5_000, 20_000), usage=usage(4_000, 0.012)),
        )
    ]
    cost = sum(each.usage.cost_usd or 0 for each in steps)
    return scored(
        number,
        score,
        where,
        steps=steps,
        usage=usage(16_000 * rounds, cost),
        duration_ms=sum(each.duration_ms for each in steps),
    )


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; WRITE_GOLDEN=1 writes it anew."""
    file = Path(__file__).with_name("golden") / name
    if os.environ.get("WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
