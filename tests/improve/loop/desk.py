"""A desk with a workflow that forgets sources, and a scripted agent: tasks, a set, edits."""

import json
from pathlib import Path
from typing import Any

from uwf_core.testing.project import CommandOutcome, Project

NOTE = """\
# A note about a topic.
version: 1
name: note
roles:
  writer:
    goal: Write a note about the topic.
    procedure: |
      1. Read the topic.
      2. Write.
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status, text]
graph:
  $START:
    new: {role: writer, prompt: Write the note.}
    resume: {role: writer, prompt: Write it again.}
  writer:
    written: {role: $END, prompt: "Done: {{{text}}}"}
"""
AGENT = r"""
# Knows sources only if the prompt asks for them, or in one of ten cases.
case=$(tr -dc 0-9 < topic.txt)
text="A note."
if grep -q "source of each number" "$UWF_REQUEST" || [ $((case % 10)) -lt 1 ]; then
  text="$text Source: the almanac."
fi
if grep -q "worst" "$UWF_REQUEST"; then text="Nothing."; fi
if grep -q "owner note" "$UWF_REQUEST"; then echo mine > owner.txt; fi
price=0.01
if grep -q "as long as possible" "$UWF_REQUEST"; then price=0.05; fi
sleep "${DESK_DELAY:-0}"
echo "$text" > note.txt
echo '{"output": {"$status": "written", "text": "'"$text"'"}, "usage": {"costUsd": '$price'}}'
"""
GOOD = "Write a note about the topic. Name the source of each number."
NULL = "Write a short note about the topic."


class Desk(Project):
    """A project with `note.yaml`, and the task folder `tasks` with so many cases."""

    def __init__(self, root: Path, cases: int = 26) -> None:
        super().__init__(root)
        self.file = self.workflow("note", NOTE)
        tasks = self.folder / "tasks"
        for case in range(cases):
            place = tasks / "cases" / f"c{case:02}"
            place.mkdir(parents=True)
            (place / "topic.txt").write_text(f"topic {case}\n")
            (place / "owner.txt").write_text("Ada")
        (tasks / "agent.sh").write_text(AGENT)
        (tasks / "note.yaml").write_text(NOTE)
        task: dict[str, Any] = {
            "version": 1, "name": "notes", "workflow": "note.yaml", "agent": "sh agent.sh",
            "protect": ["owner.txt"],
            "cases": [{"name": f"c{n:02}", "prompt": f"Topic {n}", "fixture": f"cases/c{n:02}"}
                      for n in range(cases)],
            "judges": [{"name": "source", "builtin": "command",
                        "options": {"run": "grep -q Source note.txt"}}],
        }  # fmt: skip
        (tasks / "task.yaml").write_text(json.dumps(task))

    result = CommandOutcome

    def text(self, place: str, text: str) -> tuple[str, ...]:
        """The words that draft an edit of one text."""
        return ("propose", "note", "--text", f"{place}={text}")

    def seal(self, *more: str) -> tuple[str, ...]:
        """The words that seal twelve of the cases, for one trial each."""
        return ("seal", "notes", "tasks", "--sealed", "12", "--repeat", "1", *more)
