"""The messages between a run and its workers: lines of JSON.

to a worker      {"settings": …}, then {"trial": …} for each trial, {"cancel": reason}
from a worker    {"ready": true}, then {"end": {trial, space}} for each trial, {"notice": text},
                 {"error": {message, where, hint, exitCode}} if it fails
"""

from pathlib import Path
from typing import Any

from uwf_core.errors import UwfError
from uwf_core.fields.records import read_payload, write_record
from uwf_eval.records import Trial
from uwf_eval.run.executor import RunSettings
from uwf_eval.task.model import Task
from uwf_eval.task.tree import Entry
from uwf_eval.trial.folders import TrialFolders, TrialResult


def encode_settings(settings: RunSettings) -> dict[str, Any]:
    """The settings for a worker as JSON, without the environment, which it inherits."""
    return {
        "folder": str(settings.folder),
        "cwd": str(settings.cwd),
        "tasks": [{**write_record(each), "folder": str(each.folder)} for each in settings.tasks],
        "stamps": {name: list(entries.values()) for name, entries in settings.stamps.items()},
    }


def decode_settings(message: dict[str, Any], env: dict[str, str]) -> RunSettings:
    """Read the settings that `encode_settings` wrote."""
    return RunSettings(
        folder=Path(message["folder"]),
        cwd=Path(message["cwd"]),
        env=env,
        tasks=[read_payload(Task, {**t, "folder": Path(t["folder"])}) for t in message["tasks"]],
        stamps={
            name: {each[0]: Entry._make((*each[:4], tuple(each[4]))) for each in entries}
            for name, entries in message["stamps"].items()
        },
    )


def encode_end(end: TrialResult) -> dict[str, Any]:
    """Serialize a finished trial."""
    space = None if end.space is None else [str(each) for each in end.space]
    return {"trial": write_record(end.trial), "space": space}


def decode_end(message: dict[str, Any]) -> TrialResult:
    """Read what `encode_end` wrote."""
    space = message["space"]
    found = None if space is None else TrialFolders._make(map(Path, space))
    return TrialResult(read_payload(Trial, message["trial"]), found)


def encode_error(error: UwfError) -> dict[str, Any]:
    """Serialize an error."""
    document: dict[str, Any] = error.document()["error"]
    return document


def decode_error(message: dict[str, Any]) -> UwfError:
    """Read what `encode_error` wrote."""
    error = UwfError(message["message"], where=message["where"], hint=message["hint"])
    error.code, error.exit_code = message["code"], message["exitCode"]
    return error
