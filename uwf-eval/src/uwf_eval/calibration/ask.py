"""Ask a judge about the items of its calibration set."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

from uwf_core.api import Cancel, Usage
from uwf_core.client import Client
from uwf_core.errors import RunInterrupted, UwfError
from uwf_eval.calibration.measure import (
    JudgedItem,
    agreement_with,
    figures_of,
    items_needed,
    verdict_of,
)
from uwf_eval.calibration.records import Calibration, CalibrationFile, CalibrationItem
from uwf_eval.calibration.set import set_digest
from uwf_eval.judges.api import Evidence
from uwf_eval.judges.context import JudgeContext
from uwf_eval.judges.identity import asks_a_model, identity_of
from uwf_eval.judges.run_judge import run_judge
from uwf_eval.records import JudgeResult
from uwf_eval.task.model import JudgeSpec, Task

_LINE = "\n\n"


class JudgeUnusableError(UwfError):
    """A judge gave no score for an item, in any run."""

    code = "judge-unusable"


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where a judge is asked.

    Attributes:
        folder: for the items' folders. env: of judges that are programs.
    """

    task: Task
    client: Client
    folder: Path
    env: Mapping[str, str]
    cancel: Cancel


def calibrate(
    bench: Bench,
    spec: JudgeSpec,
    items: CalibrationFile,
    runs: int,
    progress: Callable[[int], None],
) -> Calibration:
    """Judge every item `runs` times as it is, once in the reversed order, and once longer.
    `progress` gets the number of judged items after each.

    Raises:
        JudgeUnusableError: an item has no score in any run.
        RunInterrupted: it was cancelled.
    """
    identity = identity_of(spec, bench.client, bench.task.folder)
    judged, results = [], list[JudgeResult]()
    for number, item in enumerate(items.items, 1):
        asked = _Asked(bench, spec, item, runs)
        judged.append(asked.judged())
        results += asked.results
        progress(number)
    found = agreement_with(judged, items.pass_)
    figures = figures_of(judged, items.pass_, items.bar)
    return Calibration(
        identity=identity,
        set_digest=set_digest(bench.task.folder / (spec.calibration or "")),
        items=len(judged),
        passing=round(found.one * found.items),
        judged_passing=round(found.other * found.items),
        same=found.same,
        chance=found.chance,
        runs=runs,
        asked=len(results),
        failed=sum(each.score is None for each in results),
        needed=items_needed(items.bar, found.one),
        figures=figures,
        verdict=verdict_of(figures),
        usage=reduce(Usage.plus, [each.usage for each in results]),
    )


def judgements(spec: JudgeSpec, items: CalibrationFile, runs: int) -> int:
    """How often `calibrate` will ask."""
    longer = sum(bool(each.result) for each in items.items)
    return len(items.items) * (runs + (_turned(spec) is not None)) + longer


class _Asked:
    """The judgements of one item."""

    def __init__(self, bench: Bench, spec: JudgeSpec, item: CalibrationItem, runs: int) -> None:
        self.results: list[JudgeResult] = []
        self._bench, self._spec, self._item, self._runs = bench, spec, item, runs

    def judged(self) -> JudgedItem:
        item, spec = self._item, self._spec
        scores = [each for _ in range(self._runs) if (each := self._score(spec, item)) is not None]
        if not scores:
            why = self.results[-1].error or "it only informs"
            raise JudgeUnusableError(
                f"the judge {spec.name!r} gives no score for the item {item.name!r}: {why}",
                hint="correct the judge, its model or the item",
            )
        turned = _turned(spec)
        twice = replace(item, result=f"{item.result}{_LINE}{item.result}")
        return JudgedItem(
            gold=item.gold,
            scores=scores,
            turned=None if turned is None else self._score(turned, item),
            longer=self._score(spec, twice) if item.result else None,
        )

    def _score(self, spec: JudgeSpec, item: CalibrationItem) -> float | None:
        bench, folder = self._bench, self._bench.folder / "item"
        spec = replace(spec, repeat=1)
        try:
            context = JudgeContext(replace(bench.task, judges=(spec,)), self._evidence(item))
            result = run_judge(context, spec)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if bench.cancel.is_set():
            raise RunInterrupted("the calibration was interrupted", hint="start it again")
        self.results.append(result)
        return result.score

    def _evidence(self, item: CalibrationItem) -> Evidence:
        bench, folder = self._bench, self._bench.folder / "item"
        for name in ("state", "work"):
            (folder / name).mkdir(parents=True)
        for name, text in item.files.items():
            file = folder / "work" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return Evidence(
            cwd=folder / "work",
            thread="",
            record=_record_of(item),
            env=bench.env,
            fixture=None,
            model=bench.client.judge_model,
            client=bench.client,
            state_dir=folder / "state",
            cancel=bench.cancel,
        )


def _turned(spec: JudgeSpec) -> JudgeSpec | None:
    """The judge with the reversed order of what it shows; None if it has no order."""
    if spec.builtin is None or not asks_a_model(spec):
        return None
    order = "reversed" if spec.options.get("order", "given") == "given" else "given"
    return replace(spec, options={**spec.options, "order": order})


def _record_of(item: CalibrationItem) -> dict[str, Any]:
    """The item as the record of a thread (`JudgeRequest.record`)."""
    bodies: Sequence[str] = [each for each in (item.handed,) if each] + [item.result]
    steps: list[dict[str, Any]] = [
        {
            "number": number, "role": "worker" if number == len(bodies) else "before",
            "status": "done", "output": {"$status": "done"}, "body": body,
            "attempt": {"edgePrompt": ""}, "turns": [], "attempts": [],
        }
        for number, body in enumerate(bodies, 1)
    ]  # fmt: skip
    return {"prompt": item.prompt, "status": "completed", "steps": steps}
