"""A task from a whole recorded thread: its prompt, input and files, and the expected answer."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from typing import Any, Final, NamedTuple

from uwf_core.client import Client
from uwf_core.errors import UsageError, UwfError
from uwf_eval.task.load import check_new
from uwf_eval.task.model import FIXTURE
from uwf_eval.task.read import TASK_FILE
from uwf_eval.task.tree import copy_tree

EXPECTED: Final = "expected.json"
_JUDGE: Final = Path(__file__).with_name("templates") / "expected.py"


class WrittenTask(NamedTuple):
    """The task of a thread: the expected answer, and why its files are not the recorded ones."""

    expected: Mapping[str, Any]
    without_files: str | None


def write_thread_task(
    client: Client, thread: str, folder: Path, files: Path | None, expected: Mapping[str, Any]
) -> WrittenTask:
    """Write the task of a thread into a new folder.

    Args:
        thread: a completed thread. files: in place of those that the thread began with.
        expected: fields of the answer, by a person; empty: the recorded ones, to be corrected.

    Raises:
        UsageError: the thread is not completed, or has no such fields. TreeError, OSError.
    """
    check_new(folder)
    found = client.thread(thread)
    last = next(found.newest_first("output"), None)
    if found.status != "completed" or last is None:
        raise UsageError(
            f"the thread {found.id} is {found.status}, not completed",
            hint="only a finished thread has an answer",
        )
    answer = dict(last.output)
    unknown = sorted({*expected} - {*answer, *_fields(last.workflow.roles[last.role].schema)})
    if unknown:
        raise UsageError(
            f"the answer has no field {unknown[0]!r}", where="--expect",
            hint=f"its fields are: {', '.join(sorted(answer))}",
        )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    without = _write_files(client, found, folder, files)
    wanted = dict(expected) or answer
    (folder / EXPECTED).write_text(_json(wanted), encoding="utf-8")
    copyfile(_JUDGE, folder / "expected.py")
    (folder / TASK_FILE).write_text(_task(client, found, folder.name), encoding="utf-8")
    return WrittenTask(wanted, without)


def read_fields(texts: Sequence[str]) -> dict[str, Any]:
    """The values of `FIELD=VALUE`: JSON, else text.

    Raises:
        UsageError: a text has another form.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{text!r} is not FIELD=VALUE", where="--expect",
                             hint="such as '$status=urgent'")  # fmt: skip
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _fields(schema: Mapping[str, Any]) -> set[str]:
    variants = schema.get("oneOf") or [schema]
    return {name for each in variants for name in each.get("properties", {})}


def _write_files(client: Client, thread: Any, folder: Path, files: Path | None) -> str | None:
    """Write the fixture; why it is empty, if it is."""
    if files is not None:
        if not files.is_dir():
            raise UsageError(f"the folder {str(files)!r} does not exist", where="--files",
                             hint="name a folder")  # fmt: skip
        copy_tree(files, folder / FIXTURE)
        return None
    first = next(iter(thread.steps()))
    try:
        given = client.unattended.step_input(first.ref)
    except UwfError as error:
        return error.message
    if given.tree is None:
        return "the thread recorded no files"
    (folder / FIXTURE).mkdir()
    client.unattended.restore_files(given, str(folder / FIXTURE))
    return None


def _task(client: Client, thread: Any, name: str) -> str:
    given = client.show(thread.id)["input"]
    fields = {
        "version": 1,
        "name": name,
        "description": f"The thread {thread.id}, with the answer that a person expects.",
        "workflow": thread.workflow.name,
        "prompt": thread.task,
        **({"input": given} if given else {}),
        "tags": [f"source:{thread.id}"],
        "judges": [{"name": "expected", "entry": "expected.py"}],
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return "\n".join(["# Correct expected.json: it decides what a good answer is.", *lines]) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
