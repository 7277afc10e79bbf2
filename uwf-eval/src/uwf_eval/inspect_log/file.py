"""A run as a log of Inspect, which `inspect view` and `inspect log` open: a sample for each trial.

The file is the zip of JSON files that Inspect's `.eval` recorder writes, version 2: `header.json`,
`summaries.json`, and `samples/<ID>_epoch_<N>.json`. Messages are those of the trial's thread and of
the threads that it called, in their order. Source: inspect.aisi.org.uk/eval-logs.html.
"""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from uwf_core.api import RecordedThread, Usage, date_text
from uwf_core.commands import replaced_file
from uwf_core.errors import CorruptNodeError, UnknownIdError
from uwf_core.fields.records import write_record
from uwf_eval.inspect_log.messages import Messages
from uwf_eval.records import JudgeResult, Run, Trial

if TYPE_CHECKING:
    from uwf_core.api import RecordedThread
    from uwf_core.client import Client
    from uwf_eval.documents import LogDocument

ThreadOf = Callable[[str], RecordedThread | None]
"""The thread with this id; None if it is gone."""

_VERSION: Final = 2
_OVERALL: Final = "uwf"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # of the files in the zip: the same run gives the same bytes
_LATER: Final = ("not_run",)


def write_inspect_log(
    file: IO[bytes], run: Run, trials: Sequence[Trial], thread_of: ThreadOf
) -> int:
    """Write the log; how many samples it has. Trials that were not run are left out."""
    shown = [trial for trial in trials if trial.state not in _LATER]
    names = _names(shown)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        header = _header(run, shown, names)
        start = {name: header[name] for name in ("version", "eval", "plan")}
        _add(archive, "_journal/start.json", start)
        summaries = []
        for trial in shown:
            sample = _sample(trial, names[trial.number], thread_of)
            place = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            _add(archive, place, sample)
            summaries.append(_summary(sample))
        _add(archive, "summaries.json", summaries)
        _add(archive, "header.json", header)
    return len(shown)


def _add(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, json.dumps(content, ensure_ascii=False))


def _names(trials: Sequence[Trial]) -> dict[int, str]:
    """The id of the sample of each trial: what distinguishes its cell from the others."""
    varies = {
        key
        for key in ("workflow", "agent", "model")
        if len({getattr(trial.cell, key) for trial in trials}) > 1
    }
    found = {}
    for trial in trials:
        cell = trial.cell
        words = [cell.task, cell.case]
        words += [f"{cell.workflow_name}-{cell.workflow}"] if "workflow" in varies else []
        words += [str(getattr(cell, key)) for key in ("agent", "model") if key in varies]
        name = "_".join(filter(None, words))
        safe = (each if each.isalnum() or each in "-._" else "-" for each in name)
        found[trial.number] = "".join(safe)  # it names a file
    return found


def _header(run: Run, trials: Sequence[Trial], names: Mapping[int, str]) -> dict[str, Any]:
    ids = list(dict.fromkeys(names.values()))
    models = list(dict.fromkeys(str(each or "configured") for each in run.models)) or ["configured"]
    finished = run.finished_at_ms
    return {
        "version": _VERSION,
        "status": "started" if finished is None else "success",
        "eval": {
            "eval_id": run.run,
            "run_id": run.run,
            "created": date_text(run.started_at_ms),
            "task": run.name or "uwf-eval",
            "task_id": run.run,
            "task_version": 0,
            "dataset": {
                "name": ", ".join(task.name for task in run.tasks),
                "samples": len(ids),
                "sample_ids": ids,
                "shuffled": False,
            },
            "model": f"uwf/{models[0] if len(models) == 1 else 'several'}",
            "config": {"epochs": run.repeat},
            "packages": {"uwf-eval": run.eval_version, "uwf-core": run.engine_version},
            "metadata": {"uwf": write_record(run)},
        },
        "plan": {"name": "uwf", "steps": [], "config": {}},
        "results": {
            "total_samples": run.trials,
            "completed_samples": len(trials),
            "scores": [_eval_score(name, trials) for name in _scorers(trials)],
        },
        "stats": {
            "started_at": date_text(run.started_at_ms),
            "completed_at": "" if finished is None else date_text(finished),
            "model_usage": _usage_by_model(trials),
        },
    }


def _scorers(trials: Sequence[Trial]) -> list[str]:
    """The overall score, and the judges in their order."""
    judges = dict.fromkeys(judge.name for trial in trials for judge in trial.judges)
    return [_OVERALL, *(name for name in judges if name != _OVERALL)]


def _eval_score(name: str, trials: Sequence[Trial]) -> dict[str, Any]:
    values = [value for trial in trials if (value := _values(trial).get(name)) is not None]
    mean = {"name": "mean", "value": sum(values) / len(values)} if values else None
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(values),
        "unscored_samples": len(trials) - len(values),
        "metrics": {} if mean is None else {"mean": mean},
    }


def _values(trial: Trial) -> dict[str, float | None]:
    return {judge.name: judge.score for judge in trial.judges} | {_OVERALL: trial.score}


def _sample(trial: Trial, name: str, thread_of: ThreadOf) -> dict[str, Any]:
    thread = None if trial.thread is None else thread_of(trial.thread)
    messages = [] if thread is None else list(Messages().of(thread))
    last = next((each for each in messages[::-1] if each["role"] == "assistant"), None)
    model = _model(trial)
    stop = {"message": last, "stop_reason": "stop"}
    return {
        "id": name,
        "epoch": trial.cell.repeat,
        "input": trial.cell.case or trial.cell.task if thread is None else thread.task,
        "target": "",
        "messages": messages,
        "output": {"model": model, "choices": [] if last is None else [stop]},
        "scores": _scores(trial),
        "metadata": {"uwf": _about(trial)},
        "model_usage": {model: _usage(trial.usage)},
        **_times(trial),
        **({"error": _error(trial)} if trial.state == "infra_error" else {}),
    }


def _times(trial: Trial) -> dict[str, Any]:
    found: dict[str, Any] = {"total_time": trial.duration_ms / 1000}
    if trial.started_at_ms is not None:
        found["started_at"] = date_text(trial.started_at_ms)
    if trial.completed_at_ms is not None:
        found["completed_at"] = date_text(trial.completed_at_ms)
    return found


def _about(trial: Trial) -> dict[str, Any]:
    """The trial without what the sample has already."""
    left_out = ("judges", "usage", "startedAtMs", "completedAtMs", "durationMs")
    return {key: value for key, value in write_record(trial).items() if key not in left_out}


def _error(trial: Trial) -> dict[str, str]:
    text = "" if trial.failure is None else f"{trial.failure.kind}: {trial.failure.message}"
    return {"message": text or trial.state, "traceback": "", "traceback_ansi": ""}


def _scores(trial: Trial) -> dict[str, Any]:
    found = {judge.name: _score(judge) for judge in trial.judges if judge.score is not None}
    if trial.score is not None:
        said = None if trial.failure is None else f"{trial.failure.kind}: {trial.failure.message}"
        found[_OVERALL] = {
            "value": trial.score,
            "explanation": said,
            "metadata": {"state": trial.state, "passed": trial.passed},
        }
    return found


def _score(judge: JudgeResult) -> dict[str, Any]:
    metadata = {"judge": judge.judge, "weight": judge.weight, "data": write_record(judge)["data"]}
    return {"value": judge.score, "explanation": judge.error, "metadata": metadata}


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    times = ("total_time", "started_at", "completed_at")
    kept = ("id", "epoch", "input", "target", "scores", "model_usage", *times)
    found = {key: sample[key] for key in kept if key in sample}
    error = sample.get("error")
    count = len(sample["messages"])
    return {
        **found,
        "metadata": {},
        "completed": True,
        "message_count": count,
        **({"error": error["message"]} if error else {}),
    }


def _model(trial: Trial) -> str:
    return f"uwf/{trial.cell.model or 'configured'}"


def _usage(usage: Usage) -> dict[str, Any]:
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    inputs, outputs = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": inputs,
        "output_tokens": outputs,
        "total_tokens": usage.tokens or 0,
        "input_tokens_cache_read": read,
        "input_tokens_cache_write": written,
        "total_cost": usage.cost_usd,
    }


def _usage_by_model(trials: Sequence[Trial]) -> dict[str, Any]:
    sums: dict[str, Usage] = {}
    for trial in trials:
        model = _model(trial)
        sums[model] = sums[model].plus(trial.usage) if model in sums else trial.usage
    return {model: _usage(usage) for model, usage in sums.items()}


def export_inspect_log(
    client: "Client", run: Run, trials: Sequence[Trial], target: Path
) -> "LogDocument":
    """Write the log; it appears once it is complete, and replaces an existing file.

    Raises:
        UsageError: the file cannot be written.
    """

    def thread_of(thread: str) -> "RecordedThread | None":
        try:
            return client.thread(thread)
        except (UnknownIdError, CorruptNodeError):  # removed since; the scores are there
            return None

    with replaced_file(target, "the log") as file:
        samples = write_inspect_log(file, run, trials, thread_of)
    return {"run": run.run, "format": "inspect", "samples": samples, "file": str(target)}
