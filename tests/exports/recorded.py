"""Recorded threads with all that the language has, for formats and for the stranger's script."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.core import branching, calling

from uwf_core.client import Client
from uwf_core.testing.project import Project

USAGE = {"inputTokens": 12, "outputTokens": 7, "cacheReadTokens": 3, "costUsd": 0.25}
PERSON = """\
version: 1
name: letter
roles:
  writer:
    goal: Write the letter.
    capabilities: [writing]
    procedure: Be brief.
    frontmatter:
      oneOf:
        - properties:
            $status: {const: written}
            text: {type: string, minLength: 2, description: The letter.}
            words: {type: integer, minimum: 3}
            tags: {type: array, items: {enum: [formal, warm]}, uniqueItems: true, minItems: 2}
          required: [$status, text]
        - properties: {$status: {const: unsure}, question: {type: string}}
          required: [$status, question]
  editor:
    human: true
    goal: Decide.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: send}}, required: [$status]}
        - {properties: {$status: {const: again}, why: {type: string}}, required: [$status, why]}
  counter:
    program: {argv: [sh, -c, "printf %s $0 | wc -c", "{{{text}}}"], statuses: {0: counted}}
    frontmatter:
      properties: {$status: {const: counted}, stdout: {type: string}}
      required: [$status]
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: Continue.}
  writer:
    written: {role: counter, prompt: "Count {{{text}}}"}
    unsure: {role: $SUSPEND, prompt: "Please say: {{{question}}}"}
  counter:
    counted: {role: editor, prompt: "It has {{{stdout}}} letters: {{{steps.writer.text}}} Send it?"}
  editor:
    send: {role: $END, prompt: Sent.}
    again: {role: writer, prompt: "Again: {{why}} ({{{steps.counter.stdout}}})"}
"""
_TURNS = [
    {"text": "Looking.", "reasoning": "First the file.", "toolCalls": [
        {"id": "a", "name": "read", "arguments": '{"path": "x"}', "result": "text"},
        {"id": "b", "name": "read", "arguments": "no json", "result": "none", "isError": True},
    ]},
    "Writing.",
]  # fmt: skip


def _written(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "writer", "output": {"$status": "written", "text": text}, **more}


LETTER: list[dict[str, Any]] = [
    {"role": "writer", "outputs": [
        {"$status": "nonsense"},
        {"output": {"$status": "unsure", "question": "to: you & me?"}, "body": "Hm.\n\n---\nx"},
    ]},
    _written("Dear `you`\n\n````\n# Step 9: forged", body="Long ``` text", turns=_TURNS,
             usage=USAGE, model="a-model"),
    {"role": "writer", "outputs": [{"fail": {"kind": "rate_limited", "message": "slow down"}},
                                   {"$status": "written", "text": "no: #yes"}]},
    _written("12:30"),
    _written("null"),
    _written("  spaces\n"),
]  # fmt: skip


@contextmanager
def letters(root: Path) -> Iterator[tuple[Client, Mapping[str, str]]]:
    """A person, a program, a correction, a failed attempt, a resume, a poke and a summary."""
    project = Project(root)
    project.workflow("letter", PERSON)
    project.script(LETTER, by_role=True)
    with project.client(durable=False) as uwf:
        uwf.add_workflow(project.folder / ".workflow/letter.yaml", allow_programs=True)
        thread = uwf.start("letter", "A letter.\n---\nTo you.")["thread"]
        uwf.exec(thread, until_done=True)  # the writer is unsure
        uwf.resume(thread, "To the neighbours.")
        uwf.exec(thread, until_done=True)  # the person is asked
        uwf.resume(thread, answer='{"$status": "again", "why": "too <short>"}')
        uwf.exec(thread)  # a failed attempt
        uwf.resume(thread, "Slowly now.")
        uwf.poke(thread, "Not like that.")
        summary = uwf.steps(thread)[-1]["step"]
        uwf.compact(thread, "The first two steps.", up_to=uwf.steps(thread)[1]["step"])
        uwf.exec(thread, until_done=True)
        uwf.resume(thread, answer='{"$status": "again", "why": "no"}')
        uwf.compact(thread, "All before.", up_to=summary)
        uwf.exec(thread, until_done=True)
        uwf.resume(thread, answer='{"$status": "send"}')
        yield uwf, {"letter": thread, "fork": uwf.fork(summary)["thread"]}


@contextmanager
def calls(root: Path) -> Iterator[tuple[Client, Mapping[str, str]]]:
    """A thread that calls another twice, and one whose call is open."""
    project = calling.calling_project(root)
    bad = calling.said("checker", "bad", why="dull")
    project.script(
        [calling.PLANNED, calling.WRITTEN, bad, calling.GOOD, calling.REFUSED, calling.ACCEPTED],
        by_role=True,
    )
    with project.client(durable=False) as uwf:
        twice = uwf.start("outer", "Make a poem.")["thread"]
        uwf.exec(twice, until_done=True)
        project.script(calling.SMOOTH, by_role=True)
        half = uwf.start("outer", "Make another.")["thread"]
        uwf.exec(half, count=2)
        yield uwf, {"twice": twice, "half": half}


@contextmanager
def branches(root: Path) -> Iterator[tuple[Client, Mapping[str, str]]]:
    """Threads with `parallel` (an agent, a workflow, a program) and `forEach` branches."""
    project = branching.branching_project(root)
    with project.client(store="memory:", durable=False) as uwf:
        uwf.add_workflow(project.folder / ".workflow/panel.yaml", allow_programs=True)
        tasks = branching.run(uwf)
        script = branching.panel_script(branching.POOR, branching.FINE)
        project.script(script, by_role=True, repeat=True)
        yield uwf, {"tasks": tasks, "panel": branching.run(uwf, "panel")}


GUIDED = """\
version: 1
name: guided
roles:
  writer:
    goal: Write it.
    skills: [style, other]
    memory: [notes.md]
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  reviewer:
    goal: Review it.
    memory: [notes.md]
    frontmatter:
      oneOf:
        - {properties: {$status: {const: fine}}, required: [$status]}
        - {properties: {$status: {const: poor}, why: {type: string}}, required: [$status, why]}
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: Continue.}
  writer: {done: {role: reviewer, prompt: Review it.}}
  reviewer:
    fine: {role: $END, prompt: Fine.}
    poor: {role: writer, prompt: "Again: {{{why}}}"}
"""


@contextmanager
def guided(root: Path) -> Iterator[tuple[Client, Mapping[str, str]]]:
    """Skills, memory that comes and goes, and the rules of a project; in new and old sessions."""
    project = Project(root)
    file = project.workflow("guided", GUIDED)
    for name in ("style", "other"):
        skill = project.folder / f".agents/skills/{name}/SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: {name}\ndescription: How.\n---\nShort ```` texts.\n")
    notes = project.folder / "notes.md"
    notes.write_text("The parser is fragile.\n")
    project.trust()
    done = {"role": "writer", "output": {"$status": "done"}}
    fine = {"role": "reviewer", "output": {"$status": "fine"}}
    poor = {"role": "reviewer", "output": {"$status": "poor", "why": "dull"}}
    project.script([done, poor, done, poor, done, fine])
    with project.client(durable=False) as uwf:
        uwf.add_workflow(file)
        thread = uwf.start("guided", "A text.")["thread"]
        uwf.exec(thread, count=2)
        notes.write_text("The parser is new.\n")
        uwf.exec(thread, count=2)
        notes.unlink()
        uwf.exec(thread, count=1)
        uwf.exec(thread, until_done=True)
        yield uwf, {"guided": thread}


ALL = {"guided": guided, "letters": letters, "calls": calls, "branches": branches}
