"""What a run and its workers say to each other: lines of JSON.

to a worker      {"setting": …}, then {"trial": …} for each trial, {"cancel": reason}
from a worker    {"ready": true}, then {"end": {trial, space}} for each trial, {"notice": text},
                 {"fault": {message, where, hint, exitCode}} when it cannot go on
"""

from pathlib import Path
from typing import Any

from uwf_core.api.fields import write_record
from uwf_core.errors import UwfError
from uwf_core.named_tuple import NamedTuple
from uwf_eval.records import Trial
from uwf_eval.run.executor import Setting
from uwf_eval.store.shapes import read_payload
from uwf_eval.task.model import Task
from uwf_eval.task.tree import Entry
from uwf_eval.trial.space import Space


def setting_out(setting: Setting) -> dict[str, Any]:
    """What a worker needs of a setting, as JSON; the environment it has as its own."""
    return {
        "folder": str(setting.folder),
        "cwd": str(setting.cwd),
        "tasks": [_task_out(each) for each in setting.tasks],
        "stamps": {name: list(entries.values()) for name, entries in setting.stamps.items()},
    }


def setting_in(message: dict[str, Any], env: dict[str, str]) -> Setting:
    """The setting of a worker, from what `setting_out` gave."""
    return Setting(
        folder=Path(message["folder"]),
        cwd=Path(message["cwd"]),
        env=env,
        tasks=[_task_in(each) for each in message["tasks"]],
        stamps={
            name: {each[0]: Entry._make((*each[:4], tuple(each[4]))) for each in entries}
            for name, entries in message["stamps"].items()
        },
    )


def _task_out(task: Task) -> dict[str, Any]:
    return {**write_record(task), "folder": str(task.folder)}


def _task_in(message: dict[str, Any]) -> Task:
    return read_payload(Task, {**message, "folder": Path(message["folder"])})


class End(NamedTuple):
    """A trial that has ended, and its folders; None: it left none, or somebody may write there
    still.
    """

    trial: Trial
    space: Space | None


def end_out(end: End) -> dict[str, Any]:
    """A trial that has ended as JSON."""
    space = None if end.space is None else [str(each) for each in end.space]
    return {"trial": write_record(end.trial), "space": space}


def end_in(message: dict[str, Any]) -> End:
    """What `end_out` gave."""
    space = message["space"]
    found = None if space is None else Space._make(map(Path, space))
    return End(read_payload(Trial, message["trial"]), found)


def fault_out(error: UwfError) -> dict[str, Any]:
    """An error as JSON."""
    document: dict[str, Any] = error.document()["error"]
    return document


def fault_in(message: dict[str, Any]) -> UwfError:
    """The error that a worker met, as far as a message can say it."""
    error = UwfError(message["message"], where=message["where"], hint=message["hint"])
    error.code, error.exit_code = message["code"], message["exitCode"]
    return error
