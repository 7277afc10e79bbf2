"""One trial of a task written on the spot, in this process; the agent is a shell script."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.eval.run.run_site import DONE, FLOW

from uwf_core.api import Cancel
from uwf_core.client import Client
from uwf_eval.plan.matrix import Matrix, Published, planned
from uwf_eval.records import Trial
from uwf_eval.run.executor import RunSettings
from uwf_eval.task.model import Task, fixture_digest
from uwf_eval.task.read import Origin, read_task
from uwf_eval.trial.playing import TrialContext
from uwf_eval.trial.tampering import stamps
from uwf_eval.trial.thread import WorkflowCache
from uwf_eval.trial.trial import run_trial

RUN = "01JD000000000000000000000A"
TASK: Mapping[str, Any] = {
    "name": "t",
    "workflow": "flow.yaml",
    "prompt": "do it",
    "agent": "sh agent.sh",
    "judges": [{"name": "route", "builtin": "expected-route", "options": {"route": ["writer"]}}],
}


class Table:
    """A task in a folder, and what its trials need."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "task"
        self.folder.mkdir()
        self.private = root / "private"
        self.cancel = Cancel()
        self.notices: list[str] = []
        self.env = {**os.environ, "UWF_HOME": str(root / "home")}
        self.write("flow.yaml", FLOW)
        self.agent(DONE)

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def agent(self, text: str) -> None:
        self.write("agent.sh", text)

    def task(self, **changes: Any) -> Task:
        self.write("task.yaml", json.dumps({**TASK, **changes}))
        origin = Origin(self.folder, "folder", str(self.folder), "digest")
        with Client.open(env=self.env, cwd=self.root) as client:
            return read_task(origin, client).require()

    def run(self, task: Task, **changes: Any) -> Trial:
        with Client.open(env=self.env, cwd=self.root) as main:
            ref = main.find_workflow(str(self.folder / "flow.yaml"))
            matrix = Matrix(
                tasks=[task],
                workflows={task.name: [Published(word="flow", ref=ref, name="flow")]},
                fixtures={(task.name, c.name): fixture_digest(task, c) for c in task.cases},
            )
            context = TrialContext(
                main=main,
                settings=RunSettings(
                    folder=self.private,
                    cwd=self.root,
                    env=self.env,
                    tasks=[task],
                    stamps={task.name: stamps(task.folder)},
                ),
                templates=WorkflowCache(main),
                cancel=self.cancel,
                notice=self.notices.append,
            )
            result = run_trial(context, task, replace(planned(matrix, RUN)[0], **changes))
            if result.space is not None:
                result.space.remove()
            return result.trial

    def trial(self, **changes: Any) -> Trial:
        return self.run(self.task(**changes))
