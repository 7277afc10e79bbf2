"""Check what the shape of a task cannot express: names, and that files and judges exist."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from uwf_core.client import Client
from uwf_core.definitions import (
    CompiledSchema,
    Problem,
    YamlMapping,
    error_at,
    place_at,
    schema_problems,
)
from uwf_core.errors import DefinitionError, PayloadError, UnknownIdError, UwfError
from uwf_eval.calibration.set import read_set
from uwf_eval.judges.api import judge_problems
from uwf_eval.judges.identity import asks_a_model
from uwf_eval.judges.script import interpreter_of
from uwf_eval.judges.startable import unable
from uwf_eval.task.globs import glob_problem
from uwf_eval.task.model import RECORDED, JudgeSpec, Task, different_inputs, fixture_of
from uwf_eval.task.tree import obstacles

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
NAME_HINT: Final = "use letters, digits, `.`, `_` and `-`; start with a letter or digit"
INPUT_HINT: Final = "set input: of the task, or of its cases, as the workflow declares it"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def task_problems(task: Task, root: YamlMapping, client: Client) -> Iterator[Problem]:
    """All errors of a task beyond its shape; missing values were reported already. `client` opens
    the judges of plugins.
    """
    yield from _names(task, root)
    yield from _workflow(task, root, client)
    yield from _fixtures(task, root)
    yield from _globs(task, root)
    yield from _judges(task, root, client)
    yield from _steps(task, root, client)


def _names(task: Task, root: YamlMapping) -> Iterator[Problem]:
    if task.name and not NAME.match(task.name):
        place = place_at(root, ("name",))
        yield error_at(place, "bad-name", f"{task.name!r} is not a valid task name", NAME_HINT)
    yield from _named(root, "case", [case.name for case in task.cases])
    yield from _named(root, "judge", [judge.name for judge in task.judges])
    if "cases" in root.values and not task.cases:
        place = place_at(root, ("cases",))
        yield error_at(place, "no-cases", "cases is empty", "add `{name: …, prompt: …}`")
    for name in task.env:
        if not _VARIABLE.match(name):
            place = place_at(root, ("env", name))
            yield error_at(place, "bad-name", f"{name!r} is not a valid variable name",
                           "use letters, digits and `_`")  # fmt: skip


def _named(root: YamlMapping, noun: str, names: Sequence[str]) -> Iterator[Problem]:
    """Names of cases or judges that are not valid, or come twice."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        place = place_at(root, (f"{noun}s", index, "name"))
        if name and not NAME.match(name):
            yield error_at(place, "bad-name", f"{name!r} is not a valid {noun} name", NAME_HINT)
        if name in seen and name:
            yield error_at(place, "duplicate-name", f"there are two {noun}s {name!r}", "rename one")
        seen.add(name)


def _workflow(task: Task, root: YamlMapping, client: Client) -> Iterator[Problem]:
    file = workflow_file(task)
    place = place_at(root, ("workflow",))
    if task.workflow is None:
        return
    if file is None:
        yield from _start(task, root, client)
    elif not file.is_file():
        hint = "the path is relative to task.yaml"
        yield error_at(place, "missing-file", f"missing workflow file {str(file)!r}", hint)
    elif task.source != "folder" and not file.resolve().is_relative_to(task.folder.resolve()):
        message = f"{task.workflow!r} points outside the task"
        yield error_at(place, "outside", message, "put it beside task.yaml")
    else:
        yield from _start(task, root, client)


def _start(task: Task, root: YamlMapping, client: Client) -> Iterator[Problem]:
    """What is wrong with the workflow, with those that it calls, and with the typed input."""
    word = str(workflow_file(task) or task.workflow)
    for index, given in different_inputs(task):
        try:
            client.unattended.check(word, given)
        except UnknownIdError:  # a name: a run can use another workflow
            return
        except DefinitionError as error:
            yield from (Problem(**each) for each in error.problems)
            return
        except PayloadError as error:
            keys = ("cases", index, "input") if "cases" in root.values else ("input",)
            yield error_at(place_at(root, keys), "bad-input", error.message, INPUT_HINT)
        except UwfError as error:
            place = place_at(root, ("workflow",))
            yield error_at(place, "workflow", error.message, error.hint or "")
            return


def _steps(task: Task, root: YamlMapping, client: Client) -> Iterator[Problem]:
    """Recorded steps that are unknown, or cannot be made again."""
    for index, case in enumerate(task.cases):
        if case.step is None:
            continue
        place = place_at(root, ("cases", index, "step"))
        try:
            client.unattended.step_input(case.step)
        except UwfError as error:
            yield error_at(place, "bad-step", error.message, error.hint or "")
        if case.input is not None:
            place = place_at(root, ("cases", index, "input"))
            yield error_at(place, "bad-input", "a recorded step has its recorded input",
                           "remove the key")  # fmt: skip


def workflow_file(task: Task) -> Path | None:
    """The file of the task's workflow, None where it is a name. It may lie outside of a task that
    is a folder, and is looked for beside the original one.
    """
    word = task.workflow or RECORDED
    if "/" not in word and not word.endswith((".yaml", ".yml")):
        return None
    beside = Path(task.place) if task.source == "folder" else task.folder
    return Path(os.path.normpath(beside / word))


def _fixtures(task: Task, root: YamlMapping) -> Iterator[Problem]:
    reported: set[Path] = set()
    for index, case in enumerate(task.cases):
        place = place_at(root, ("cases", index, "fixture")) if case.name else root.place
        if case.fixture is not None and _leads_out(task.folder, case.fixture):
            message = f"the fixture {case.fixture!r} points outside the task"
            yield error_at(place, "outside", message, "put it beside task.yaml")
            continue
        folder = fixture_of(task, case)
        if folder is None or folder in reported:
            continue
        reported.add(folder)
        if not folder.is_dir():
            message = f"missing fixture {case.fixture!r}"
            hint = "create the folder beside task.yaml, or remove the key to start empty"
            yield error_at(place, "missing-fixture", message, hint)
            continue
        for name, why in obstacles(folder):
            yield error_at(place, "bad-fixture", f"{folder.name}/{name} {why}", "remove it")


def _leads_out(folder: Path, word: str) -> bool:
    return not (folder / word).resolve().is_relative_to(folder.resolve())


def _globs(task: Task, root: YamlMapping) -> Iterator[Problem]:
    for index, glob in enumerate(task.protect):
        why = glob_problem(glob)
        if why is not None:
            place = place_at(root, ("protect", index))
            yield error_at(place, "bad-glob", f"the glob {glob!r} {why}")


def _judges(task: Task, root: YamlMapping, client: Client) -> Iterator[Problem]:
    for index, judge in enumerate(task.judges):
        yield from _entry(task, judge, index, root)
        yield from _schema(judge, index, root)
        yield from _calibration(task, judge, index, root)
        for problem in judge_problems(judge, client):
            at = place_at(root, ("judges", index, problem.key))
            yield error_at(at, "bad-judge", problem.message, problem.hint)
    yield from _startable(task, root)
    if "judges" in root.values and not any(each.weight > 0 for each in task.judges):
        place = place_at(root, ("judges",))
        message = "no judge has a weight above 0"
        yield error_at(place, "no-judge", message, "a trial without such a judge has no score")


def _startable(task: Task, root: YamlMapping) -> Iterator[Problem]:
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
        at = place_at(root, ("judges", names.index(name), "options", "run"))
        message = f"the judge {name!r} cannot judge a trial: {why}"
        yield error_at(at, "judge-cannot-run", message, "install or correct it")


def _calibration(task: Task, judge: JudgeSpec, index: int, root: YamlMapping) -> Iterator[Problem]:
    if judge.calibration is None:
        return
    place = place_at(root, ("judges", index, "calibration"))
    file = task.folder / judge.calibration
    if not asks_a_model(judge):
        message = f"{judge.judge} asks no model, so it has nothing to calibrate"
        yield error_at(place, "bad-calibration", message, "remove the key")
    elif _leads_out(task.folder, judge.calibration):
        yield error_at(place, "outside", f"{judge.calibration!r} points outside the task",
                       "put it beside task.yaml")  # fmt: skip
    elif not file.is_file():
        yield error_at(place, "missing-file", f"missing file {judge.calibration!r}",
                       "the path is relative to task.yaml")  # fmt: skip
    else:
        yield from read_set(file).problems


def _entry(task: Task, judge: JudgeSpec, index: int, root: YamlMapping) -> Iterator[Problem]:
    if judge.entry is None:
        return
    place = place_at(root, ("judges", index, "entry"))
    file = task.folder / judge.entry
    within = [each for case in task.cases if (each := fixture_of(task, case)) is not None]
    if _leads_out(task.folder, judge.entry):
        yield error_at(place, "outside", f"{judge.entry!r} points outside the task",
                       "put it beside task.yaml")  # fmt: skip
    elif not file.is_file():
        yield error_at(place, "missing-file", f"missing file {judge.entry!r}",
                       "the path is relative to task.yaml")  # fmt: skip
    elif any(file.resolve().is_relative_to(each.resolve()) for each in within):
        message = f"{judge.entry!r} is in a fixture, where the agent can change it"
        yield error_at(place, "judge-in-fixture", message, "put it beside task.yaml")
    elif file.suffix != ".py" and not os.access(file, os.X_OK) and not interpreter_of(file):
        message = f"{judge.entry!r} is not executable, and names no interpreter"
        yield error_at(place, "not-executable", message, f"`chmod +x {judge.entry}`")


def _schema(judge: JudgeSpec, index: int, root: YamlMapping) -> Iterator[Problem]:
    if judge.schema is None:
        return
    try:
        CompiledSchema(judge.schema)
    except PayloadError:
        for problem in schema_problems(judge.schema):
            place = place_at(root, ("judges", index, "schema", *problem.keys))
            yield error_at(place, "bad-schema", problem.message, problem.hint or "")
