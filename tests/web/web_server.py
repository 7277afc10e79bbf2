"""`uwf web` as a user starts it, for a project with a workflow that a person approves."""

import json
import signal
import subprocess
from pathlib import Path

from uwf_core.testing.project import Project

LETTER = """
version: 1
name: letter
description: A letter that a person approves.
input: {properties: {tone: {enum: [warm, short], description: How it sounds.}}}
roles:
  writer:
    description: Writes the letter
    goal: Write
    frontmatter:
      properties:
        $status: {const: written}
        text: {type: string}
      required: [$status, text]
  reader:
    description: Approves the letter
    goal: Approve
    human: true
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties:
            $status: {const: changes}
            comments: {type: string, minLength: 1, description: What must change.}
          required: [$status, comments]
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Write again.}
  writer:
    written: {role: reader, prompt: "May this go out? {{{text}}}"}
  reader:
    approved: {role: $END, prompt: Done.}
    changes: {role: writer, prompt: "Change this: {{{comments}}}"}
"""
LOOP = """
version: 1
name: loop
roles:
  worker:
    goal: work
    limits: {maxUnchanged: 0}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: again}}, required: [$status]}
        - {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Begin.}
    resume: {role: worker, prompt: Continue.}
  worker:
    again: {role: worker, prompt: Again.}
    done: {role: $END, prompt: Done.}
"""
"""Rounds of one role, for a thread as long as one likes."""
TURNS = [{"text": "Reading the task."}, {"text": "A first line.\n\nA **second** one."}]


class WebServer:
    """A server with the pages of a project."""

    def __init__(self, root: Path, *options: str) -> None:
        self.project = Project(root)
        self.project.workflow("letter", LETTER)
        self.play(0)
        self.start(*options)

    def play(self, delay_ms: int) -> None:
        """Let the writer take this long."""
        output = {"$status": "written", "text": "Dear Ada,\n\n- **one**\n- <b>two</b>"}
        step = {"role": "writer", "output": output, "turns": TURNS, "delayMs": delay_ms}
        self.project.script([step], repeat=True, by_role=True)

    def launch(self, *options: str) -> subprocess.Popen[str]:
        """Start the process; nobody waits until it answers."""
        command = self.project.command("web", "--port", "0", *options)
        self.process = subprocess.Popen(
            command, cwd=self.project.folder, env=self.project.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self.process

    def start(self, *options: str) -> None:
        """Start it; it answers when this returns."""
        self.launch(*options)
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line == "}\n":
                break
        self.link = str(json.loads("".join(lines))["url"])
        self.origin = self.link.partition("/?")[0]

    def new_link(self) -> str:
        """A link that logs in once more."""
        return str(self.project.uwf("web").document["url"])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> str:
        """End it; what it has printed after its link."""
        self.process.send_signal(how)
        self.process.wait(30)
        if self.process.stdout is None or self.process.stdout.closed:
            return ""
        with self.process.stdout as printed:
            return printed.read()
