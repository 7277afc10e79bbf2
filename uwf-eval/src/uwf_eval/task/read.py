"""Read task.yaml: a task, or every error of the file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from uwf_core.client import Client
from uwf_core.definitions import Problem, YamlMapping, check_comments, node_at, read_shape
from uwf_eval.task.check import task_problems
from uwf_eval.task.checked_file import Checked, Wrong, placed, read_checked
from uwf_eval.task.model import Case, Source, Task, TaskFile
from uwf_eval.task.original import with_own_forms

TASK_FILE: Final = "task.yaml"
_KEEP: Final = "keep one of them"


class Origin(NamedTuple):
    """The folder of a task and the place that it was loaded from; `digest` of all its files."""

    folder: Path
    source: Source
    place: str
    digest: str


def read_task(origin: Origin, client: Client | None = None) -> Checked[Task]:
    """The task in a folder, checked with what `client` knows; without one, it was checked before,
    and only its shape is read.
    """

    def read(root: YamlMapping) -> tuple[Task, list[Problem]]:
        root, problems = with_own_forms(root, origin.folder)
        file, wrong = read_shape(TaskFile, root, extensions=True)
        task = _task(file, origin)
        found: list[Problem | Wrong] = [*_shape_problems(root)]
        found += [] if client is None else task_problems(task, root.values.keys(), client)
        return task, [*problems, *wrong, *check_comments(root), *placed(root, found)]

    hint = "`uwf eval new NAME` creates an example task"
    return read_checked(origin.folder / TASK_FILE, read, "a task", hint)


def _shape_problems(root: YamlMapping) -> Iterator[Wrong]:
    """Keys that depend on each other."""
    there = root.values.keys() & {"prompt", "cases"}
    if len(there) == 2:
        yield Wrong(("cases",), "prompt-and-cases", "prompt and cases exclude each other", _KEEP)
    elif not there:
        yield Wrong((), "missing-key", "the key 'prompt' is missing", "add `prompt:` or `cases:`")
    yield from _case_problems(root)
    for index, judge in _mappings(root, "judges"):
        which = [key for key in ("builtin", "entry", "plugin") if key in judge.values]
        if len(which) != 1:
            given = " and ".join(which) or "none"
            yield Wrong(
                ("judges", index), "judge-kind",
                f"judges.{index} needs one of builtin, entry and plugin, and has {given}",
                "`builtin: NAME`, `entry: FILE` or `plugin: NAME`",
            )  # fmt: skip


def _case_problems(root: YamlMapping) -> Iterator[Wrong]:
    cases = list(_mappings(root, "cases"))
    for index, case in cases:
        keys, there = ("cases", index), case.values.keys() & {"prompt", "step"}
        if len(there) == 2:
            yield Wrong(keys, "prompt-and-step", "prompt and step exclude each other", _KEEP)
        elif not there:
            yield Wrong(keys, "missing-key", "a case needs the key 'prompt' or 'step'",
                        "add `prompt:`, or `step:` for a recorded step")  # fmt: skip
    if not cases or not all("step" in each.values for _, each in cases):
        for key in ("workflow", "judges"):
            if key not in root.values:
                yield Wrong((), "missing-key", f"missing key {key!r}", f"add `{key}:`")


def _mappings(root: YamlMapping, key: str) -> Iterator[tuple[int, YamlMapping]]:
    found, _ = node_at(root, (key,))
    for index, each in enumerate(getattr(found, "items", ())):
        if isinstance(each, YamlMapping):
            yield index, each


def _task(file: TaskFile, origin: Origin) -> Task:
    cases = file.cases if file.prompt is None else (Case(name="", prompt=file.prompt),)
    if file.input is not None:
        cases = tuple(
            replace(each, input={**file.input, **(each.input or {})}) if each.step is None else each
            for each in cases
        )
    return Task(**{**vars(file), "cases": cases, **origin._asdict()})
