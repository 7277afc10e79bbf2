"""An office that sorts letters: a workflow, its clerks, and its recorded runs."""

from pathlib import Path
from typing import Any

from run_site import Site

from uwf_core.client import Client

TRIAGE = """\
version: 1
name: triage
roles:
  reader:
    goal: Name the topic.
    frontmatter:
      properties: {$status: {const: read}, topic: {type: string}}
      required: [$status, topic]
  sorter:
    goal: Decide how fast we answer.
    frontmatter:
      oneOf:
        - properties: {$status: {const: urgent}, reason: {type: string}}
          required: [$status, reason]
        - properties: {$status: {const: later}, reason: {type: string}}
          required: [$status, reason]
graph:
  $START:
    new: {role: reader, prompt: Read the letter.}
    resume: {role: reader, prompt: There is a further letter.}
  reader:
    read: {role: sorter, prompt: "Sort a letter about {{{topic}}}."}
  sorter:
    urgent: {role: $END, prompt: Done.}
    later: {role: $END, prompt: Done.}
"""
CLERK = """\
import json, os, sys, zlib
words = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
prompt, kind = words["--prompt"], os.environ.get("CLERK", "careful")
with open(os.path.join(os.path.dirname(__file__), "log"), "a") as log:
    print(json.dumps([words["--role"], os.getcwd()]), file=log)
if words["--role"] == "reader":
    letter = open("letter.txt").read().strip()
    output = {"$status": "read", "topic": letter}
else:
    fire = "fire" in prompt and kind != "blind"
    reason = "it burns" if fire else "no hurry"
    output = {"$status": "urgent" if fire else "later", "reason": reason}
    if kind == "wordy":
        output["reason"] += ", I think"
    if kind == "silent" and not fire:
        output = {"$status": "maybe"}
print(json.dumps({"output": output}))
"""
KINDS = ("careful", "twin", "blind", "wordy", "silent")


class Office(Site):
    """A site with the workflow `triage` and a clerk of each kind, as an agent `sh KIND.sh`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write("triage.yaml", TRIAGE)
        self.write("clerk.py", CLERK)
        here = self.folder / "clerk.py"
        for kind in KINDS:
            self.write(f"{kind}.sh", f'CLERK={kind} exec python3 {here} "$@"\n')

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return file

    def client(self) -> Client:
        return Client.open(env=self.env, cwd=self.folder)

    def record(self, *letters: str, agent: str | None = None, **options: Any) -> list[str]:
        """Run the workflow on each letter; return the threads."""
        threads = []
        with self.client() as client:
            for letter in letters:
                self.write("letter.txt", letter)
                word = agent or f"sh {self.folder}/careful.sh"
                given = {"cwd": self.folder, "agent": word, **options}
                thread = client.start("./triage.yaml", "Answer our post.", **given)["thread"]
                client.exec(thread, until_done=True)
                threads.append(thread)
        return threads

    def step(self, thread: str, role: str) -> str:
        """The newest step of a role."""
        with self.client() as client:
            return [each.ref for each in client.thread(thread).steps() if each.role == role][-1]

    def word(self, kind: str) -> str:
        return f"sh {kind}.sh"


def letters(count: int) -> list[str]:
    """Letters about fires and others."""
    return [f"{'fire' if number % 2 else 'tea'} in room {number}" for number in range(count)]
