"""Tasks from recorded steps: one for each role, with a case for each step."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uwf_core.client import Client
from uwf_core.definitions import load_file, to_value
from uwf_core.errors import UnknownIdError, UsageError, WrongStateError
from uwf_eval.task.read import TASK_FILE
from uwf_eval.task.tree import copy_tree
from uwf_eval.trial.thread import steps_by_path

if TYPE_CHECKING:
    from uwf_core.client import StepInput

_FILES: Final = "recorded-steps"
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The recorded steps of a request.

    Attributes:
        steps, threads, workflows: the words of `--from-step`, `--from-thread`, `--from-workflow`.
        role: of the steps of threads and workflows: a role, or a path of roles with wildcards.
        newest: the most steps of `workflows`; None: all.
        files: a folder in place of recorded files.
    """

    steps: Sequence[str] = ()
    threads: Sequence[str] = ()
    workflows: Sequence[str] = ()
    role: str | None = None
    newest: int | None = None
    files: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no step is selected."""
        return not (self.steps or self.threads or self.workflows)

    def check(self) -> None:
        """Check that the options belong together.

        Raises:
            UsageError: they do not.
        """
        needs_role = bool(self.threads or self.workflows)
        if needs_role and self.role is None:
            raise UsageError("--from-thread and --from-workflow need --role",
                             hint="add --role ROLE, or name steps with --from-step")  # fmt: skip
        if self.role is not None and not needs_role:
            raise UsageError("--role needs --from-thread or --from-workflow",
                             hint="add --from-workflow NAME")  # fmt: skip
        if self.newest is not None and not self.workflows:
            raise UsageError("--newest needs --from-workflow", hint="add --from-workflow NAME")
        if self.files is not None and self.is_empty:
            raise UsageError("--files needs recorded steps", hint="add --from-workflow NAME")


class Selected(NamedTuple):
    """The selected steps, and why others of the threads are left out, a line each."""

    steps: "Sequence[StepInput]"
    left_out: Sequence[str]


def select_steps(client: Client, wanted: Selection) -> Selected:
    """The selected steps, each once, in the order of the request.

    Raises:
        UsageError: the options do not belong together.
        UnknownIdError: an unknown step, thread or workflow, or none has the role.
        WrongStateError: a named step, or every step of the role, cannot be made again.
    """
    wanted.check()
    found = [client.unattended.step_input(each) for each in wanted.steps]
    refused: list[WrongStateError] = []
    for thread in wanted.threads:
        found += _usable(client, _steps_of(client, thread, wanted), refused)
    for workflow in wanted.workflows:
        usable = _usable(client, _steps_of_workflow(client, workflow, wanted), refused)
        found += list(islice(usable, wanted.newest))[::-1]
    if refused and not found:
        raise refused[0]
    steps = list({each.step: each for each in found}.values())
    return Selected(steps, [f"left out: {each.message}" for each in refused])


def _usable(
    client: Client, steps: Iterable[str], refused: list[WrongStateError]
) -> "Iterator[StepInput]":
    for step in steps:
        try:
            yield client.unattended.step_input(step)
        except WrongStateError as error:
            refused.append(error)


def _steps_of(client: Client, thread: str, wanted: Selection) -> list[str]:
    """The steps of the role in a thread and in those that it called.

    Raises:
        UnknownIdError: unknown thread, or no step has the role.
    """
    every = list(steps_by_path(client, thread))
    found: list[str] = [step.ref for path, step in every if fnmatchcase(path, wanted.role or "")]
    if not found:
        roles = ", ".join(dict.fromkeys(path for path, _ in every)) or "none"
        raise UnknownIdError(
            f"no step of thread {thread} has the role {wanted.role!r}",
            hint=f"its steps have the roles: {roles}",
        )
    return found


def _steps_of_workflow(client: Client, workflow: str, wanted: Selection) -> Iterator[str]:
    """The steps of the role in the threads of a workflow, newest first.

    Raises:
        UnknownIdError: there is no such thread, or no step has the role.
    """
    from uwf_core.client import ThreadFilter  # not for every run

    rows = client.list(ThreadFilter(all=True, workflow=workflow))
    if not rows:
        raise UnknownIdError(f"no thread has the workflow {workflow!r}",
                             hint="next: uwf thread list --all")  # fmt: skip
    is_empty = True
    for row in rows:
        every = [(path, step.ref) for path, step in steps_by_path(client, row["thread"])]
        for path, ref in reversed(every):
            if fnmatchcase(path, wanted.role or ""):
                is_empty = False
                yield ref
    if is_empty:
        raise UnknownIdError(
            f"no step of the {len(rows)} threads of {workflow} has the role {wanted.role!r}",
            hint=f"next: uwf step list {rows[0]['thread']}",
        )


def tasks_of(steps: "Iterable[StepInput]") -> "Mapping[str, Sequence[StepInput]]":
    """The steps by the name of their task, which is that of the role."""
    found: dict[str, list[StepInput]] = {}
    for step in steps:
        found.setdefault(_NOT_A_NAME.sub("-", step.role).strip("-") or "role", []).append(step)
    return found


def write_task(folder: Path, name: str, steps: "Sequence[StepInput]", files: Path | None) -> None:
    """Write the task of recorded steps of a role into a new folder.

    Raises:
        TreeError, OSError: it cannot be written; or the files cannot be copied.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fixture = _copy(files, folder)
    lines = [
        f"# The role {name} on recorded steps: each trial makes one of them again.",
        "version: 1",
        f"name: {json.dumps(name)}",
        "# Without judges, a trial scores 1 if it delivers the recorded $status, else 0.",
        "cases:",
        *(f"  - {json.dumps(each)}" for each in _cases(steps, fixture)),
    ]
    (folder / TASK_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def replace_cases(folder: Path, steps: "Sequence[StepInput]", files: Path | None) -> None:
    """Replace the cases of the task in a folder by recorded steps, each made again by its own
    workflow.
    """
    file = folder / TASK_FILE
    node = load_file(str(file)).node
    value: Any = None if node is None else to_value(node)
    if not isinstance(value, dict):
        return  # its errors are reported when it is read
    kept = {key: each for key, each in value.items()
            if key not in ("prompt", "input", "cases", "workflow")}  # fmt: skip
    cases = list(_cases(steps, _copy(files, folder)))
    file.write_text(json.dumps({**kept, "cases": cases}, indent=1) + "\n", encoding="utf-8")


def _copy(files: Path | None, folder: Path) -> str | None:
    """Copy the given files beside the task; the name of their folder."""
    if files is None:
        return None
    if not files.is_dir():
        raise UsageError(f"the folder {str(files)!r} does not exist", where="--files",
                         hint="name a folder")  # fmt: skip
    copy_tree(files, folder / _FILES)
    return _FILES


def _cases(steps: "Sequence[StepInput]", fixture: str | None) -> Iterator[dict[str, str]]:
    names: set[str] = set()
    for each in steps:
        name = f"{each.thread}.{each.number}"
        name = name if name not in names else f"{name}.{each.step}"
        names.add(name)
        own = {} if fixture is None else {"fixture": fixture}
        yield {"name": name, "step": str(each.step), **own}
