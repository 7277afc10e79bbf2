"""Check what the shape of a task cannot express: names, and that files and judges exist."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from uwf_core.client import Client
from uwf_core.definitions import CompiledSchema, Problem, schema_problems
from uwf_core.errors import DefinitionError, PayloadError, UnknownIdError, UwfError
from uwf_eval.calibration.set import read_set
from uwf_eval.judges.api import judge_problems
from uwf_eval.judges.identity import asks_a_model
from uwf_eval.judges.script import interpreter_of
from uwf_eval.judges.startable import unable
from uwf_eval.task.checked_file import Wrong
from uwf_eval.task.globs import glob_problem
from uwf_eval.task.model import RECORDED, JudgeSpec, Task, different_inputs, fixture_of
from uwf_eval.task.tree import obstacles

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
NAME_HINT: Final = "use letters, digits, `.`, `_` and `-`; start with a letter or digit"
INPUT_HINT: Final = "set input: of the task, or of its cases, as the workflow declares it"
_BESIDE: Final = "put it beside task.yaml"
_RELATIVE: Final = "the path is relative to task.yaml"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
Keys = tuple[str | int, ...]


def task_problems(task: Task, given: Collection[str], client: Client) -> Iterator[Wrong | Problem]:
    """All errors of a task beyond its shape; missing values were reported already.

    Args:
        task: the task.
        given: the keys of its file.
        client: opens the judges of plugins.
    """
    yield from _names(task)
    if "cases" in given and not task.cases:
        yield Wrong(("cases",), "no-cases", "cases is empty", "add `{name: …, prompt: …}`")
    yield from _workflow(task, given, client)
    yield from _fixtures(task)
    for index, glob in enumerate(task.protect):
        if (why := glob_problem(glob)) is not None:
            yield Wrong(("protect", index), "bad-glob", f"the glob {glob!r} {why}")
    yield from _judges(task, client)
    if "judges" in given and not any(each.weight > 0 for each in task.judges):
        yield Wrong(("judges",), "no-judge", "no judge has a weight above 0",
                    "a trial without such a judge has no score")  # fmt: skip
    yield from _steps(task, client)


def _names(task: Task) -> Iterator[Wrong]:
    if task.name and not NAME.match(task.name):
        yield Wrong(("name",), "bad-name", f"{task.name!r} is not a valid task name", NAME_HINT)
    yield from _named("case", [case.name for case in task.cases])
    yield from _named("judge", [judge.name for judge in task.judges])
    for name in task.env:
        if not _VARIABLE.match(name):
            yield Wrong(("env", name), "bad-name", f"{name!r} is not a valid variable name",
                        "use letters, digits and `_`")  # fmt: skip


def _named(noun: str, names: Sequence[str]) -> Iterator[Wrong]:
    """Names of cases or judges that are not valid, or come twice."""
    for index, name in enumerate(names):
        keys = (f"{noun}s", index, "name")
        if name and not NAME.match(name):
            yield Wrong(keys, "bad-name", f"{name!r} is not a valid {noun} name", NAME_HINT)
        if name and name in names[:index]:
            yield Wrong(keys, "duplicate-name", f"there are two {noun}s {name!r}", "rename one")


def _workflow(task: Task, given: Collection[str], client: Client) -> Iterator[Wrong | Problem]:
    file, keys = workflow_file(task), ("workflow",)
    if task.workflow is None:
        return
    if file is not None and not file.is_file():
        yield Wrong(keys, "missing-file", f"missing workflow file {str(file)!r}", _RELATIVE)
    elif file is not None and task.source != "folder" and _leads_out(task.folder, str(file)):
        yield Wrong(keys, "outside", f"{task.workflow!r} points outside the task", _BESIDE)
    else:
        yield from _start(task, given, client)


def _start(task: Task, given: Collection[str], client: Client) -> Iterator[Wrong | Problem]:
    """What is wrong with the workflow, with those that it calls, and with the typed input."""
    word = str(workflow_file(task) or task.workflow)
    for index, value in different_inputs(task):
        try:
            client.unattended.check(word, value)
        except UnknownIdError:  # a name: a run can use another workflow
            return
        except DefinitionError as error:
            yield from (Problem(**each) for each in error.problems)
            return
        except PayloadError as error:
            keys: Keys = ("cases", index, "input") if "cases" in given else ("input",)
            yield Wrong(keys, "bad-input", error.message, INPUT_HINT)
        except UwfError as error:
            yield Wrong(("workflow",), "workflow", error.message, error.hint or "")
            return


def _steps(task: Task, client: Client) -> Iterator[Wrong]:
    """Recorded steps that are unknown, or cannot be made again."""
    for index, case in enumerate(task.cases):
        if case.step is None:
            continue
        try:
            client.unattended.step_input(case.step)
        except UwfError as error:
            yield Wrong(("cases", index, "step"), "bad-step", error.message, error.hint or "")
        if case.input is not None:
            yield Wrong(("cases", index, "input"), "bad-input",
                        "a recorded step has its recorded input", "remove the key")  # fmt: skip


def workflow_file(task: Task) -> Path | None:
    """The file of the task's workflow, None where it is a name. It may lie outside of a task that
    is a folder, and is looked for beside the original one.
    """
    word = task.workflow or RECORDED
    if "/" not in word and not word.endswith((".yaml", ".yml")):
        return None
    beside = Path(task.place) if task.source == "folder" else task.folder
    return Path(os.path.normpath(beside / word))


def _fixtures(task: Task) -> Iterator[Wrong]:
    reported: set[Path] = set()
    for index, case in enumerate(task.cases):
        keys: Keys = ("cases", index, "fixture")
        if case.fixture is not None and _leads_out(task.folder, case.fixture):
            message = f"the fixture {case.fixture!r} points outside the task"
            yield Wrong(keys, "outside", message, _BESIDE)
            continue
        folder = fixture_of(task, case)
        if folder is None or folder in reported:
            continue
        reported.add(folder)
        if not folder.is_dir():
            hint = "create the folder beside task.yaml, or remove the key to start empty"
            yield Wrong(keys, "missing-fixture", f"missing fixture {case.fixture!r}", hint)
            continue
        for name, why in obstacles(folder):
            yield Wrong(keys, "bad-fixture", f"{folder.name}/{name} {why}", "remove it")


def _leads_out(folder: Path, word: str) -> bool:
    return not (folder / word).resolve().is_relative_to(folder.resolve())


def _judges(task: Task, client: Client) -> Iterator[Wrong | Problem]:
    for index, judge in enumerate(task.judges):
        keys: Keys = ("judges", index)
        yield from _entry(task, judge, (*keys, "entry"))
        yield from _schema(judge, (*keys, "schema"))
        yield from _calibration(task, judge, (*keys, "calibration"))
        for problem in judge_problems(judge, client):
            yield Wrong((*keys, problem.key), "bad-judge", problem.message, problem.hint)
    yield from _startable(task)


def _startable(task: Task) -> Iterator[Wrong]:
    """Judges whose commands cannot start on this machine, unless a setup may change that."""
    if task.setup:
        return
    names = [each.name for each in task.judges]
    found: dict[str, str] = {}
    for case in task.cases:
        folder = fixture_of(task, case)
        if folder is None or folder.is_dir():
            found |= unable(task, folder, os.environ)
    for name, why in found.items():
        message = f"the judge {name!r} cannot judge a trial: {why}"
        keys = ("judges", names.index(name), "options", "run")
        yield Wrong(keys, "judge-cannot-run", message, "install or correct it")


def _file(task: Task, name: str, keys: Keys) -> Iterator[Wrong]:
    """A file of the task that is outside of it or missing."""
    if _leads_out(task.folder, name):
        yield Wrong(keys, "outside", f"{name!r} points outside the task", _BESIDE)
    elif not (task.folder / name).is_file():
        yield Wrong(keys, "missing-file", f"missing file {name!r}", _RELATIVE)


def _calibration(task: Task, judge: JudgeSpec, keys: Keys) -> Iterator[Wrong | Problem]:
    if judge.calibration is None:
        return
    if not asks_a_model(judge):
        message = f"{judge.judge} asks no model, so it has nothing to calibrate"
        yield Wrong(keys, "bad-calibration", message, "remove the key")
    elif wrong := list(_file(task, judge.calibration, keys)):
        yield from wrong
    else:
        yield from read_set(task.folder / judge.calibration).problems


def _entry(task: Task, judge: JudgeSpec, keys: Keys) -> Iterator[Wrong]:
    if judge.entry is None:
        return
    file = task.folder / judge.entry
    within = [each for case in task.cases if (each := fixture_of(task, case)) is not None]
    if wrong := list(_file(task, judge.entry, keys)):
        yield from wrong
    elif any(file.resolve().is_relative_to(each.resolve()) for each in within):
        message = f"{judge.entry!r} is in a fixture, where the agent can change it"
        yield Wrong(keys, "judge-in-fixture", message, _BESIDE)
    elif file.suffix != ".py" and not os.access(file, os.X_OK) and not interpreter_of(file):
        message = f"{judge.entry!r} is not executable, and names no interpreter"
        yield Wrong(keys, "not-executable", message, f"`chmod +x {judge.entry}`")


def _schema(judge: JudgeSpec, keys: Keys) -> Iterator[Wrong]:
    try:
        CompiledSchema(judge.schema or {})
    except PayloadError:
        for problem in schema_problems(judge.schema or {}):
            yield Wrong((*keys, *problem.keys), "bad-schema", problem.message, problem.hint or "")
