"""What is wrong with a judge of a task, found without asking it."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from uwf_core.definitions import schema_problems, suggestion
from uwf_core.errors import ConfigError
from uwf_eval.judges.api import JudgeFault
from uwf_eval.judges.desk import DEFAULT_FIXTURE
from uwf_eval.judges.house import house_judges, house_options
from uwf_eval.task.model import JudgeSpec


def faults_of(spec: JudgeSpec, folder: Path) -> list[JudgeFault]:
    """All that keeps the judge from being asked; `folder` is the task's."""
    faults: list[JudgeFault] = []
    if spec.builtin is not None:
        faults += _house_faults(spec, spec.builtin)
    if spec.entry is not None:
        faults += _entry_faults(spec.entry, folder)
    if spec.schema is not None:
        for problem in schema_problems(dict(spec.schema), "schema"):
            message = f"{problem.path}: {problem.message}"
            faults.append(JudgeFault("schema", message, problem.hint or ""))
    return faults


def _house_faults(spec: JudgeSpec, name: str) -> Iterator[JudgeFault]:
    known = house_judges()
    if name not in known:
        hint = suggestion(name, known) or f"there are: {', '.join(known)}"
        yield JudgeFault("builtin", f"there is no builtin judge {name!r}", hint)
        return
    try:
        house_options(name, spec.options, where="options")
    except ConfigError as fault:
        yield JudgeFault("options", str(fault), fault.hint or "")


def _entry_faults(entry: str, folder: Path) -> Iterator[JudgeFault]:
    parts = PurePosixPath(entry).parts
    if not parts or ".." in parts or PurePosixPath(entry).is_absolute():
        hint = "give it relative to the task's folder, and within it"
        yield JudgeFault("entry", f"{entry!r} leads out of the task's folder", hint)
        return
    if parts[0] == DEFAULT_FIXTURE:
        hint = "the agent gets a copy of fixture/ and could read how it is judged: move it out"
        yield JudgeFault("entry", f"{entry} lies in the fixture", hint)
        return
    file = folder / entry
    if not file.is_file():
        yield JudgeFault("entry", f"there is no file {entry}", f"it is looked for in {folder}")
    elif file.suffix != ".py" and not os.access(file, os.X_OK):
        yield JudgeFault(
            "entry", f"{entry} is neither a Python file (.py) nor executable", f"chmod +x {entry}"
        )
