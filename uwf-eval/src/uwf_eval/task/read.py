"""Read task.yaml: a task, or every error of the file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from uwf_core.client import Client
from uwf_core.definitions import (
    Problem,
    YamlMapping,
    check_comments,
    error_at,
    node_at,
    place_at,
    read_shape,
)
from uwf_eval.task.check import task_problems
from uwf_eval.task.checked_file import Checked, read_checked
from uwf_eval.task.model import Case, Source, Task, TaskFile
from uwf_eval.task.original import with_own_forms

TASK_FILE: Final = "task.yaml"


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
        problems += [*wrong, *check_comments(root), *_shape_problems(root)]
        return task, problems + ([] if client is None else [*task_problems(task, root, client)])

    hint = "`uwf eval new NAME` creates an example task"
    return read_checked(origin.folder / TASK_FILE, read, "a task", hint)


def _shape_problems(root: YamlMapping) -> Iterator[Problem]:
    """Keys that depend on each other."""
    there = root.values.keys() & {"prompt", "cases"}
    if len(there) == 2:
        place = place_at(root, ("cases",))
        yield error_at(place, "prompt-and-cases", "prompt and cases exclude each other",
                       "keep one of them")  # fmt: skip
    elif not there:
        yield error_at(root.place, "missing-key", "the key 'prompt' is missing",
                       "add `prompt:` or `cases:`")  # fmt: skip
    yield from _case_problems(root)
    judges, _ = node_at(root, ("judges",))
    for index, judge in enumerate(getattr(judges, "items", ())):
        if not isinstance(judge, YamlMapping):
            continue
        which = [key for key in ("builtin", "entry", "plugin") if key in judge.values]
        if len(which) != 1:
            given = " and ".join(which) or "none"
            yield error_at(
                judge.place, "judge-kind",
                f"judges.{index} needs one of builtin, entry and plugin, and has {given}",
                "`builtin: NAME`, `entry: FILE` or `plugin: NAME`",
            )  # fmt: skip


def _case_problems(root: YamlMapping) -> Iterator[Problem]:
    """Each case has a prompt or a recorded step; with a prompt the task needs more."""
    found, _ = node_at(root, ("cases",))
    cases = [each for each in getattr(found, "items", ()) if isinstance(each, YamlMapping)]
    for case in cases:
        there = case.values.keys() & {"prompt", "step"}
        if len(there) == 2:
            yield error_at(case.place, "prompt-and-step", "prompt and step exclude each other",
                           "keep one of them")  # fmt: skip
        elif not there:
            yield error_at(case.place, "missing-key", "a case needs the key 'prompt' or 'step'",
                           "add `prompt:`, or `step:` for a recorded step")  # fmt: skip
    if cases and all("step" in each.values for each in cases):
        return
    for key in ("workflow", "judges"):
        if key not in root.values:
            yield error_at(root.place, "missing-key", f"missing key {key!r}", f"add `{key}:`")


def _task(file: TaskFile, origin: Origin) -> Task:
    cases = file.cases if file.prompt is None else (Case(name="", prompt=file.prompt),)
    if file.input is not None:
        cases = tuple(
            replace(each, input={**file.input, **(each.input or {})}) if each.step is None else each
            for each in cases
        )
    return Task(**{**vars(file), "cases": cases, **origin._asdict()})
