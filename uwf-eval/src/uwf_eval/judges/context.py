"""Shared by the judges of a trial: the copies, the environment and the record."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_core.api import is_secret_name
from uwf_eval.judges.api import Evidence
from uwf_eval.judges.failed import JudgeAborted
from uwf_eval.task.model import Task, fixture_of
from uwf_eval.task.tree import CACHE, Entry, copy_tree, digest_of_tree, walk


class JudgeContext:
    """The evidence of one trial for its judges.

    The task's files are copied first if a judge is one of them. The trial's folder is copied for
    each judge that runs in it.
    """

    def __init__(self, task: Task, evidence: Evidence) -> None:
        self.task = task
        self.evidence = evidence
        self._copies = 0
        self._seen: list[Entry] | None = None
        scripted = any(judge.entry is not None for judge in task.judges)
        self._scripts = self._copied_task() if scripted else None
        self._digest = digest_of_tree(self._scripts) if self._scripts else ""

    def scripts(self) -> Path:
        """The copy of the task's files, created before the first judge.

        Raises:
            JudgeAborted: a program of a judge changed it.
        """
        if self._scripts is None or digest_of_tree(self._scripts) != self._digest:
            raise JudgeAborted(
                "the task's files were changed during judging",
                hint="a judge that runs what the agent made ran something that looks for them",
            )
        return self._scripts

    @property
    def task_copy(self) -> Path:
        """Where the copy of the task's files is, if a judge is one of them."""
        return self.evidence.state_dir / "task"

    def _copied_task(self) -> Path:
        target = self.task_copy
        fixtures = {fixture_of(self.task, case) for case in self.task.cases}

        def left_out(folder: str, names: list[str]) -> set[str]:
            return {name for name in names if Path(folder, name) in fixtures or name == CACHE}

        shutil.copytree(self.task.folder, target, symlinks=True, ignore=left_out)
        return target

    def judged(self) -> Path:
        """The judges' copy of the trial's folder, unchanged since the first judge.

        Raises:
            JudgeAborted: a program of a judge changed it.
        """
        now = list(walk(self.evidence.cwd))
        if self._seen is None:
            self._seen = now
        elif now != self._seen:
            raise JudgeAborted(
                "the judges' copy of the trial's folder was changed during judging",
                hint="a judge that runs what the agent made ran something that looks for it",
            )
        return self.evidence.cwd

    def folder(self) -> Path:
        """Copy the trial's folder once more, with an empty `home` and `tmp` beside it."""
        judged = self.judged()
        self._copies += 1
        place = self.evidence.state_dir / f"judge-{self._copies}"
        for name in ("home", "tmp"):
            (place / name).mkdir(parents=True, mode=0o700)
        copy_tree(judged, place / "trial")
        return place / "trial"

    def environment(self, folder: Path, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The environment of a judge that is a program and runs in `folder`."""
        programs = Path(sys.executable).parent
        return judge_environment(
            self.evidence.env, private=folder.parent, programs=programs, options=options
        )


# Variables that make an interpreter, a loader, a shell or a test runner run other code first.
_STEERING_PREFIXES = (
    "LD_", "DYLD_", "PYTHON", "PYTEST_", "NODE_", "PERL5", "RUBY", "JAVA_TOOL_", "BASH_FUNC_",
    "GIT_",
)  # fmt: skip
_DROPPED_VARIABLES = frozenset(
    ("BASH_ENV", "ENV", "IFS", "CDPATH", "PWD", "OLDPWD", "UWF_EVENTS", "XDG_CONFIG_HOME")
)


def judge_environment(
    env: Mapping[str, str], *, private: Path, programs: Path, options: Mapping[str, Any]
) -> dict[str, str]:
    """`env` with an empty home, without secrets and without variables that control programs.

    Args:
        env: of the trial's judges (`Evidence.env`).
        private: the folder of `HOME` and `TMPDIR`, to which the agent had no access.
        programs: the first folder of PATH.
        options: passed as JSON in `UWF_JUDGE_OPTIONS`.
    """
    kept = {
        name: value
        for name, value in env.items()
        if name not in _DROPPED_VARIABLES
        and not name.startswith(_STEERING_PREFIXES)
        and not is_secret_name(name, value)
    }
    return {
        **kept,
        "PATH": search_path(env, programs=programs),
        "HOME": str(private / "home"),
        "TMPDIR": str(private / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "UWF_JUDGE_OPTIONS": json.dumps(dict(options), ensure_ascii=False),
    }


def search_path(env: Mapping[str, str], *, programs: Path) -> str:
    """The PATH of `env` with `programs` first, so that `python3` and `uwf` are the ones that run
    uwf-eval; without relative folders.
    """
    places = [place for place in env.get("PATH", os.defpath).split(os.pathsep) if place[:1] == "/"]
    return os.pathsep.join(dict.fromkeys([str(programs), *places]))
