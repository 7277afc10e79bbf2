"""A finished thread, and a bench on which judges are tried on it as a run does."""

import contextlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from uwf_core.api import Cancel, Model, Price
from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_eval.judges.api import Evidence
from uwf_eval.judges.run_judge import judge_all
from uwf_eval.task.model import Case, JudgeSpec, Task
from uwf_eval.trial.thread import read_thread

WORKFLOW = """
version: 1
name: repair
description: A developer repairs, a reviewer looks.
roles:
  developer:
    goal: Repair it.
    frontmatter:
      properties:
        $status: {const: done}
        summary: {type: string}
      required: [$status, summary]
  reviewer:
    goal: Look at it.
    frontmatter:
      properties:
        $status: {const: approved}
      required: [$status]
graph:
  $START:
    new: {role: developer, prompt: "Repair what the task says."}
    resume: {role: developer, prompt: "Again."}
  developer:
    done: {role: reviewer, prompt: "Review this: {{{summary}}}"}
  reviewer:
    approved: {role: $END, prompt: "Good."}
"""
TASK = "The total of the invoice is off by one cent."
SUMMARY = "The rounding in invoice.py was wrong; it rounds half up now."
REVIEW = "I ran the tests in test_invoice.py and all of them pass. The rounding rounds half up now."
SCRIPT = [
    {
        "role": "developer",
        "outputs": [
            {"output": "no frontmatter"},
            {"output": {"$status": "done", "summary": SUMMARY}},
        ],
        "usage": {"turns": 2, "inputTokens": 100, "outputTokens": 20, "costUsd": 0.25},
    },
    {
        "role": "reviewer",
        "output": {"$status": "approved"},
        "body": REVIEW,
        "usage": {"turns": 1, "inputTokens": 50, "outputTokens": 10, "costUsd": 0.05},
        "turns": [
            {
                "text": "Looking.",
                "toolCalls": [
                    {"id": "a", "name": "run", "arguments": "pytest", "result": "7 passed in 0.1 s"}
                ],
            }
        ],
    },
]


class Finished(NamedTuple):
    """A thread that was completed, and the client of its store."""

    project: Project
    client: Client
    thread: str
    record: dict


@contextlib.contextmanager
def run_thread(root):
    project = Project(root)
    project.workflow("repair", WORKFLOW)
    project.script(SCRIPT)
    with project.client() as client:
        started = client.start(str(project.folder / ".workflow" / "repair.yaml"), TASK)["thread"]
        outcome = client.exec(started, until_done=True)
        assert outcome.document["status"] == "completed", outcome
        yield Finished(project, client, started, dict(read_thread(client, started).document))


def model_at(url, price=None):
    return Model(alias="m", name="scripted", provider="p", base_url=url, price=price)


PRICE = Price(input=1.0, output=2.0)


class TrialContext:
    """A task folder, a trial's folder, and the judges of the task asked about it."""

    def __init__(self, finished, root):
        self.root = root
        self.folder = root / "task"
        self.trial = root / "trial"
        self.state = root / "state"
        for place in (self.folder, self.trial, self.state):
            place.mkdir()
        self.cancel = Cancel()
        self.evidence = Evidence(
            cwd=self.trial,
            thread=finished.thread,
            record=finished.record,
            env=dict(os.environ),
            fixture=None,
            model=None,
            client=finished.client,
            state_dir=self.state,
            cancel=self.cancel,
        )

    def file(self, name, text, mode=0o755):
        """A file of the task."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        path.chmod(mode)
        return name

    def task(self, *judges):
        return Task(
            name="t",
            workflow="repair",
            cases=[Case(name="", prompt=TASK)],
            judges=judges,
            folder=self.folder,
            source="folder",
            place=str(self.folder),
            digest="0",
        )

    def ask(self, *judges, **evidence):
        """The results of the judges."""
        state = Path(tempfile.mkdtemp(dir=self.state))
        return judge_all(self.task(*judges), replace(self.evidence, state_dir=state, **evidence))

    def builtin(self, name, evidence=None, repeat=1, **options):
        """The result of one judge of the house."""
        spec = JudgeSpec(name=name, builtin=name, options=options, repeat=repeat)
        return self.ask(spec, **(evidence or {}))[0]

    def script(self, text, name="judge.py", evidence=None, **spec):
        """The result of a judge that is a file of this text."""
        self.file(name, text)
        return self.ask(JudgeSpec(name="j", entry=name, **spec), **(evidence or {}))[0]

    def shell(self, text, **spec):
        """The result of a judge that is a shell script."""
        return self.script("#!/bin/sh\n" + text, "judge.sh", **spec)


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))
