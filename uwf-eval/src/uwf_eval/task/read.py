"""task.yaml -> Task, or every fault of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from uwf_core.definitions import (
    Loaded,
    Place,
    Problem,
    YamlMapping,
    YamlNode,
    as_definition_error,
    error_at,
    load_file,
    node_at,
    place_at,
)
from uwf_core.errors import DefinitionError
from uwf_core.named_tuple import NamedTuple
from uwf_eval.task.check import task_problems
from uwf_eval.task.model import Case, Command, JudgeSpec, Limits, Source, Task
from uwf_eval.task.shape import ABSENT, Key, any_text, data, keyed, listed, named, number, text

TASK_FILE: Final = "task.yaml"
VERSION: Final = 1

_COUNT = number(1, whole=True)
_SECONDS = number(0, 86_400, above=True)
_JUDGE = keyed(
    {
        "name": Key(text, required=True),
        "weight": Key(number(0, 1e6)),
        "builtin": Key(text),
        "entry": Key(text),
        "plugin": Key(text),
        "schema": Key(data),
        "options": Key(data),
        "repeat": Key(number(1, 1000, whole=True)),
        "timeout": Key(_SECONDS),
    }
)
_CASE = keyed(
    {"name": Key(text, required=True), "prompt": Key(text, required=True), "fixture": Key(text)}
)
_LIMITS = keyed(
    {
        "maxSteps": Key(_COUNT),
        "maxTokens": Key(_COUNT),
        "maxCostUsd": Key(number(0, above=True)),
        "maxMinutes": Key(number(0, above=True)),
    }
)
_TASK = keyed(
    {
        "version": Key(number(VERSION, VERSION, whole=True)),
        "name": Key(text, required=True),
        "description": Key(any_text),
        "workflow": Key(text, required=True),
        "prompt": Key(text),
        "cases": Key(listed(_CASE)),
        "agent": Key(text),
        "env": Key(named(any_text)),
        "limits": Key(_LIMITS),
        "protect": Key(listed(text)),
        "judges": Key(listed(_JUDGE), required=True),
        "setup": Key(listed(text)),
        "teardown": Key(listed(text)),
        "commandTimeout": Key(_SECONDS),
        "tags": Key(listed(text)),
        "pass": Key(number(0, 1)),
    },
    extensions=True,
)


class Origin(NamedTuple):
    """Where a task is, and where it came from; `digest` of all its files."""

    folder: Path
    source: Source
    place: str
    digest: str


class Checked(NamedTuple):
    """A task, or None, and all that is wrong with its file; warnings alone leave a task."""

    task: Task | None
    problems: tuple[Problem, ...]

    def require(self) -> Task:
        """The task.

        Raises:
            DefinitionError: it has faults; `problems` has all of them.
        """
        if self.task is None:
            raise as_definition_error(self.problems)
        return self.task


def read_task(origin: Origin, *, again: bool = False) -> Checked:
    """The task in a folder; `again`: it was checked before, and only its shape is looked at."""
    file = origin.folder / TASK_FILE
    try:
        loaded = load_file(str(file))
    except DefinitionError as error:
        return Checked(None, tuple(Problem(**each) for each in error.problems))
    return _checked(loaded, origin, again=again)


def _checked(loaded: Loaded, origin: Origin, *, again: bool) -> Checked:
    problems = list(loaded.problems)
    root = loaded.node
    if not isinstance(root, YamlMapping):
        if not problems:
            problems.append(_no_task(root, str(origin.folder / TASK_FILE)))
        return Checked(None, tuple(problems))
    values = _TASK(root, "", problems)
    task = None if values is ABSENT else _task(values, origin)
    problems.extend(_shape_problems(root))
    if task is not None and not again:
        problems.extend(task_problems(task, root))
    problems.sort(key=lambda each: each.place)
    faulty = any(each.severity == "error" for each in problems)
    return Checked(None if faulty else task, tuple(problems))


def _no_task(root: YamlNode | None, file: str) -> Problem:
    place = Place(file, 1, 1) if root is None else root.place
    what = "the file is empty" if root is None else "a task must be a mapping"
    return error_at(place, "wrong-type", what, "`uwf-eval new NAME` creates an example task")


def _shape_problems(root: YamlMapping) -> Iterator[Problem]:
    """What the kinds of single keys cannot say."""
    there = root.values.keys() & {"prompt", "cases"}
    if len(there) == 2:
        place = place_at(root, ("cases",))
        yield error_at(place, "prompt-and-cases", "prompt and cases exclude each other",
                       "keep one of them")  # fmt: skip
    elif not there:
        yield error_at(root.place, "missing-key", "the key 'prompt' is missing",
                       "add `prompt:` or `cases:`")  # fmt: skip
    judges, _ = node_at(root, ("judges",))
    for index, judge in enumerate(getattr(judges, "items", ())):
        if not isinstance(judge, YamlMapping):
            continue
        which = [key for key in ("builtin", "entry", "plugin") if key in judge.values]
        if len(which) != 1:
            said = " and ".join(which) or "none"
            yield error_at(
                judge.place, "judge-kind",
                f"judges.{index} needs one of builtin, entry and plugin, and has {said}",
                "`builtin: NAME`, `entry: FILE` or `plugin: NAME`",
            )  # fmt: skip


def _task(values: Mapping[str, Any], origin: Origin) -> Task:
    """As much of a task as the values give; faults are told elsewhere."""
    timeout = values.get("commandTimeout", 300.0)
    prompt = values.get("prompt")
    cases = [
        Case(**_snake(each)) for each in values.get("cases", ()) if {*each} >= {"name", "prompt"}
    ]
    return Task(
        name=values.get("name", ""),
        description=values.get("description", ""),
        workflow=values.get("workflow", ""),
        cases=tuple(cases) if prompt is None else (Case(name="", prompt=prompt),),
        judges=tuple(JudgeSpec(**{"name": "", **each}) for each in values.get("judges", ())),
        agent=values.get("agent"),
        env=values.get("env", {}),
        limits=Limits(**_snake(values.get("limits", {}))),
        protect=tuple(values.get("protect", ())),
        setup=_commands(values.get("setup", ()), timeout),
        teardown=_commands(values.get("teardown", ()), timeout),
        tags=tuple(values.get("tags", ())),
        pass_score=values.get("pass", 1.0),
        folder=origin.folder,
        source=origin.source,
        place=origin.place,
        digest=origin.digest,
    )


def _commands(texts: Any, timeout: float) -> tuple[Command, ...]:
    return tuple(Command(text=each, timeout=timeout) for each in texts)


def _snake(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key): value
        for key, value in values.items()
    }
