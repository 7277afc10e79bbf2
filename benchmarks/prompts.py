"""What the prompts of a thread cost, and how much of them a provider's cache knows already."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

STEPS = 20
_BYTES_PER_TOKEN = 4
_WORKFLOW = """
version: 1
name: loop
description: A writer and a reader, in turns.
roles:
  writer:
    goal: Improve the text by one sentence, and keep what is right.
    frontmatter:
      properties: {$status: {const: written}, summary: {type: string}}
      required: [$status, summary]
  reader:
    goal: List what is not clear yet.
    tools: [read_file, grep]
    frontmatter:
      oneOf:
        - properties: {$status: {const: unclear}, comments: {type: string}}
          required: [$status, comments]
        - properties: {$status: {const: clear}}
          required: [$status]
graph:
  $START:
    new: {role: writer, prompt: "Write it."}
    resume: {role: writer, prompt: "Continue."}
  writer:
    written: {role: reader, prompt: "Read it: {{{summary}}}"}
  reader:
    unclear: {role: writer, prompt: "Not clear: {{{comments}}}"}
    clear: {role: $END, prompt: "Done."}
"""


def prompts(folder: Path) -> Iterator[Figure]:
    """The prompt tokens of a thread of 20 steps, and how many of them an earlier prompt had."""
    raw = _requests(folder)
    known = sum(_known(each, raw[:at]) for at, each in enumerate(raw))
    total = sum(map(len, raw))
    tokens = total / _BYTES_PER_TOKEN / 1000
    name = f"builtin, prompts of {STEPS} steps"
    note = f"{len(raw)} requests, 4 bytes a token"
    yield Figure(name, tokens, "thousand tokens", note=note)
    yield Figure(f"{name}: stable prefix", 100 * known / total, "%", note="equal to an earlier one")


def _requests(folder: Path) -> list[bytes]:
    """The prompts of a thread whose roles read a file and then deliver."""
    project = Project(folder)
    del project.env["UWF_DEFAULT_AGENT"]
    project.workflow("loop", _WORKFLOW)
    (project.folder / "text.md").write_text("A line of the text that is written.\n" * 40)
    with ScriptedModel(_turns()) as model:
        project.config(
            f"providers: {{local: {{baseUrl: {model.openai_url}}}}}\n"
            "models: {m: {provider: local, name: scripted}}\n"
            "defaultModel: m\ndefaultAgent: builtin\n"
        )
        outcome = project.uwf("run", "loop", "-p", "A page about looms.", seconds=600)
        if outcome.exit_code != 0:
            raise RuntimeError(f"the thread ended with {outcome.exit_code}: {outcome.stderr}")
        return [request.raw for request in model.requests]


def _turns() -> list[Any]:
    look = {"toolCalls": [{"name": "read_file", "arguments": {"path": "text.md"}}]}
    turns: list[Any] = []
    for step in range(1, STEPS + 1):
        writes = "$status: written\nsummary: one more sentence"
        reads = "$status: unclear\ncomments: who is meant?" if step < STEPS else "$status: clear"
        fields = writes if step % 2 else reads
        turns += [look, f"---\n{fields}\n---\n" + "A sentence about it. " * 10]
    return turns


def _known(raw: bytes, before: list[bytes]) -> int:
    """How many bytes at its beginning stand at the beginning of an earlier one."""
    return max((_common(raw, each) for each in before), default=0)


def _common(one: bytes, other: bytes) -> int:
    if other.startswith(one):
        return len(one)
    return next(at for at, letter in enumerate(one) if other[at : at + 1] != bytes((letter,)))
