"""Simulated histories of one workflow, with a planted defect in each; the mock agent plays them."""

import random
from typing import Any

from uwf_core.client import Client
from uwf_core.testing.project import Project

LETTER = """
version: 1
name: letter
roles:
  planner:
    goal: Plan a letter.
    frontmatter:
      oneOf:
        - properties: {$status: {const: planned}, plan: {type: string}}
          required: [$status, plan]
        - properties: {$status: {const: unclear}, question: {type: string}}
          required: [$status, question]
  writer:
    goal: Write it.
    frontmatter:
      properties:
        $status: {const: written}
        text: {type: string}
        words: {type: integer}
      required: [$status, text, words]
  reviewer:
    goal: Find faults.
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
  printer:
    goal: Print it.
    frontmatter:
      oneOf:
        - properties: {$status: {const: printed}}
          required: [$status]
        - properties: {$status: {const: jammed}}
          required: [$status]
  mechanic:
    goal: Repair the printer.
    frontmatter:
      properties: {$status: {const: repaired}}
      required: [$status]
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    planned: {role: writer, prompt: "{{{plan}}}"}
    unclear: {role: $SUSPEND, prompt: "{{{question}}}"}
  writer:
    written: {role: reviewer, prompt: "Review: {{{text}}}"}
  reviewer:
    approved: {role: printer, prompt: Print it.}
    rejected: {role: writer, prompt: "{{{comments}}}"}
  printer:
    printed: {role: $END, prompt: Done.}
    jammed: {role: mechanic, prompt: Repair it.}
  mechanic:
    repaired: {role: printer, prompt: Try again.}
"""

DEFECTS = {
    "approves": ("never-rejects", "reviewer"),
    "rejects": ("sent-back", "reviewer.rejected"),
    "miscounts": ("corrected", "writer"),
    "slowed": ("failed", "writer"),
    "asks": ("asked", "planner"),
    "wastes": ("costly", "reviewer"),
    "drags": ("slow", "printer"),
    "looks-up": ("same-lookup", "planner"),
    "forbidden": ("denied", "printer"),
    "idle-role": ("never-reached", "mechanic"),
    "poked": ("poked", "writer"),
    "given-up": ("abandoned", "reviewer"),
}
"""Each planted defect, with the kind and the place of the finding that it must become."""

CAUSES = ("a date", "the price", "her name", "the tone", "the address", "a heading", "the table")


class Office:
    """Runs of the workflow: mostly sound, with one defect in about `often` of them."""

    def __init__(self, project: Project, defect: str | None, seed: int) -> None:
        project.workflow("letter", LETTER)
        self.project, self.defect, self.chance = project, defect, random.Random(seed)
        self.often = 0.6

    def run(self, threads: int = 24) -> Client:
        client = self.project.client(durable=False)
        for number in range(threads):
            self._thread(client, number)
        return client

    def _has(self, defect: str, often: float | None = None) -> bool:
        return self.defect == defect and self.chance.random() < (often or self.often)

    def _thread(self, client: Client, number: int) -> None:
        steps = list(self._steps())
        self.project.script(steps)
        thread = client.start("letter", f"Letter {number}")["thread"]
        given_up = self._has("given-up", 0.4)
        poke = self._has("poked", 0.5)
        for _ in range(len(steps) * 3):
            document = client.show(thread)
            if document["status"] == "completed" or (given_up and document["steps"] == 3):
                break
            if document["status"] == "suspended" and document["suspendReason"] == "role":
                client.resume(thread, "The reader is our bank.")
            else:
                client.exec(thread)
            if poke and client.show(thread)["steps"] == 2:
                poke = False
                client.poke(thread, "Shorter.")
        if given_up:
            client.cancel(thread)

    def _steps(self) -> Any:
        chance = self.chance
        if self._has("asks"):
            question = f"Who is the reader of {chance.choice(CAUSES)}?"
            yield self._step("planner", {"$status": "unclear", "question": question})
        tools = [{"id": "1", "name": "read_file", "arguments": "house-style.md"}]
        if not self._has("looks-up", 0.95):
            tools[0]["arguments"] = f"letters/{chance.randrange(10**6)}.md"
        yield self._step("planner", {"$status": "planned", "plan": "Write"}, tools=tools)
        yield self._writer()
        rejections = 1 if chance.random() < 0.15 else 0
        if self.defect == "rejects":
            rejections = 1 + (chance.random() < 0.3) if chance.random() < 0.7 else 0
        for _ in range(0 if self.defect == "approves" else rejections):
            comments = f"Please mend {chance.choice(CAUSES)}."
            if self.defect == "rejects":
                comments = f"{chance.choice(CAUSES)} lacks a source for each number."
            yield self._step("reviewer", {"$status": "rejected", "comments": comments})
            yield self._writer()
        cost = 2.0 if self._has("wastes", 0.9) else 0.1
        yield self._step("reviewer", {"$status": "approved"}, cost=cost)
        if chance.random() < 0.1 and self.defect != "idle-role":
            yield self._step("printer", {"$status": "jammed"})
            yield self._step("mechanic", {"$status": "repaired"})
        denials = ("run_command: not allowed",) if self._has("forbidden") else ()
        slow = 1200 if self._has("drags", 0.9) else 0
        yield self._step("printer", {"$status": "printed"}, denials=denials, delay=slow)

    def _writer(self) -> dict[str, Any]:
        good = {"$status": "written", "text": "Dear", "words": 1}
        step = self._step("writer", good)
        rare = self.chance.random() < 0.04
        if self._has("miscounts", 0.5) or rare:
            step["outputs"] = [{**good, "words": "one"}, step.pop("output")]
        elif self._has("slowed", 0.5):
            step["outputs"] = [{"fail": {"kind": "timeout"}}, step.pop("output")]
        return step

    def _step(
        self, role: str, output: dict[str, Any], *, cost: float = 0.1, delay: int = 0,
        tools: list[Any] | None = None, denials: tuple[str, ...] = (),
    ) -> dict[str, Any]:  # fmt: skip
        cost *= self.chance.uniform(0.8, 1.2)
        step: dict[str, Any] = {"role": role, "output": output, "usage": {"costUsd": cost}}
        if tools:
            step["turns"] = [{"text": "Looking", "toolCalls": tools}]
        if denials:
            step["denials"] = list(denials)
        if delay:
            step["delayMs"] = delay
        return step
