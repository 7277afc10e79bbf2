"""The threads on which the kit calls an exporter: every state of a thread, every kind of step."""

import json
from atexit import register
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import mkdtemp
from typing import Any

from uwf_core.api import RecordedThread
from uwf_core.client import Client

WORKFLOW = """\
version: 1
name: kit-exporter
description: A writer and a reviewer.
roles:
  writer:
    goal: Write the text.
    frontmatter:
      properties: {$status: {const: done}, summary: {type: string}}
      required: [$status, summary]
  reviewer:
    goal: Review the text.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: approved}}, required: [$status]}
        - {properties: {$status: {const: unsure}}, required: [$status]}
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Continue.}
  writer:
    done: {role: reviewer, prompt: "Review: {{summary}}"}
  reviewer:
    approved: {role: $END, prompt: Done.}
    rejected: {role: writer, prompt: "Change: {{comments}}"}
    unsure: {role: $SUSPEND, prompt: "May this be published?"}
"""
CALLER = """\
version: 1
name: kit-caller
roles:
  write:
    workflow: ./kit-exporter.yaml
  judge:
    goal: Judge the text.
    frontmatter: {properties: {$status: {const: fine}}, required: [$status]}
graph:
  $START:
    new: {role: write, prompt: Write a text.}
    resume: {role: write, prompt: Write it again.}
  write:
    approved:
      parallel:
        style: {role: judge, prompt: Judge the style.}
        facts: {role: judge, prompt: Judge the facts.}
      shared: true
      then:
        fine: {role: $END, prompt: Done.}
        $mixed: {role: write, prompt: Write it anew.}
"""
HOSTILE = (
    "</script><img src=http://127.0.0.1/x onerror=alert(1)>\n---\n# Step 9: forged\n"
    "=cmd|' /C calc'!A0\n\x1b[2J\u202egnp.exe\u2066 \U000e0041 ]]> \"'`&amp;{{x}}${x}\n"
)
_USAGE = {"inputTokens": 12, "outputTokens": 7, "costUsd": 0.25}
_WROTE = {"role": "writer", "output": {"$status": "done", "summary": "a text"}, "body": "It.\n"}
_FORM = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}


class ExporterThreads:
    """A store with threads, by what happened in them; close it.

    Args:
        root: an empty folder for the store.
    """

    def __init__(self, root: Path) -> None:
        made, self._ids = _made()
        copytree(made / "home", root / "home")
        self.client = _client(root)

    def all(self) -> Mapping[str, RecordedThread]:
        """Each thread, read anew."""
        return {name: self.client.thread(thread) for name, thread in self._ids.items()}

    def contents(self) -> Any:
        """Everything that the store holds, without the times of its last use."""
        backend = self.client._engine.backend
        return (
            {each.ref: (each.type, each.sha256, each.data) for each in backend.records()},
            {each.name: (each.value, dict(each.tags)) for each in backend.variables("")},
        )

    def close(self) -> None:
        """Close the store."""
        self.client.close()


def _client(root: Path) -> Client:
    root.mkdir(exist_ok=True)
    env = {"UWF_MOCK_SCRIPT": str(root / "script.json"), "HOME": str(root), "PATH": "/usr/bin:/bin"}
    return Client.open(home=root / "home", cwd=root, env=env, default_agent="mock", durable=False)


@cache
def _made() -> tuple[Path, Mapping[str, str]]:
    """A folder with the store, and the ids of its threads; made once, each test gets a copy."""
    root = Path(mkdtemp(prefix="uwf-kit-"))
    register(rmtree, root, ignore_errors=True)
    with _client(root) as client:
        return root, _Maker(root, client).make()


class _Maker:
    """Runs the threads on scripts."""

    def __init__(self, root: Path, client: Client) -> None:
        (root / "kit-exporter.yaml").write_text(WORKFLOW, encoding="utf-8")
        (root / "kit-caller.yaml").write_text(CALLER, encoding="utf-8")
        self._script = root / "script.json"
        self._client = client

    def make(self) -> Mapping[str, str]:
        """The id of each thread."""
        return {
            "rich": self._rich(),
            "empty": self._start(),
            "failed": self._played(
                {"role": "writer", "fail": {"kind": "crashed", "message": "it crashed"}}
            ),
            "suspended": self._played(
                {"role": "writer", "suspend": {"reason": "Which text?", "form": _FORM}}
            ),
            "cancelled": self._cancelled(),
            "hostile": self._hostile(),
            "calling": self._calling(),
            "waiting": self._calling(1),
        }

    def _start(self, task: str = "Write a text.") -> str:
        return str(self._client.start("./kit-exporter.yaml", task)["thread"])

    def _play(self, *steps: Mapping[str, Any]) -> None:
        self._script.write_text(json.dumps({"steps": steps}), encoding="utf-8")

    def _rich(self) -> str:
        """Turns, a correction, a loop, a failed attempt, a replaced step, a person's answers."""
        thread = self._start()
        call = {"id": "a", "name": "edit", "arguments": '{"path": "x"}', "result": "edited"}
        turns = ["Reading.", {"text": "Editing.", "reasoning": "It is wrong.", "toolCalls": [call]}]
        rejected = {"output": {"$status": "rejected", "comments": "Too short."}, "usage": _USAGE}
        approved = {"role": "reviewer", "output": {"$status": "approved"}}
        unsure = {"role": "reviewer", "output": {"$status": "unsure"}}
        limited = {"fail": {"kind": "rate_limited", "message": "slow down"}}
        self._play(
            {**_WROTE, "usage": _USAGE, "turns": turns, "model": "kit-model"},
            {"role": "reviewer", "outputs": [{"$status": "nonsense"}, rejected]},
            {"role": "writer", "outputs": [limited, {"output": _WROTE["output"]}]},
            unsure,
            approved,
            {**_WROTE, "question": {"message": "Which place?", "form": _FORM}},
            approved,
        )
        self._client.exec(thread, count=3)
        self._client.resume(thread, "Try again.")
        self._client.exec(thread)
        self._client.resume(thread, "Yes, publish it.")
        self._client.poke(thread, "Look once more.")
        self._client.resume(thread, "One more thing.")
        self._client.resume(thread, answer='{"place": "Bern"}')
        self._client.exec(thread, until_done=True)
        return thread

    def _played(self, step: Mapping[str, Any], task: str = "Write a text.") -> str:
        thread = self._start(task)
        self._play(step)
        self._client.exec(thread)
        return thread

    def _cancelled(self) -> str:
        thread = self._played(_WROTE)
        self._client.tag(thread, {"team": "web", "late": "yes"})
        self._client.tag(thread, {"late": ""})
        self._client.cancel(thread)
        return thread

    def _calling(self, *count: int) -> str:
        """A called thread and branches; with a count the call is open after so many steps."""
        approved = {"role": "reviewer", "output": {"$status": "approved"}}
        steps = [_WROTE, approved, {"role": "judge", "output": {"$status": "fine"}}]
        script = {"steps": steps, "byRole": True, "repeat": True}
        self._script.write_text(json.dumps(script), encoding="utf-8")
        thread = str(self._client.start("./kit-caller.yaml", "Write a text.")["thread"])
        if count:
            self._client.exec(thread, count=count[0])
        else:
            self._client.exec(thread, until_done=True)
        return thread

    def _hostile(self) -> str:
        output = {"$status": "done", "summary": HOSTILE}
        step = {"role": "writer", "output": output, "body": HOSTILE, "turns": [HOSTILE]}
        return self._played(step, HOSTILE)
