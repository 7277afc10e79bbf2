"""Every example of an operation runs as its help shows it; its document has its schema."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from generate.documents import schemas
from uwf_core.operations.plugin_rows import plugin_data
from uwf_core.operations.rows import own_rows
from uwf_core.testing.project import Project

ROWS = {
    path: row
    for data in (own_rows(), *plugin_data().values())
    for path, row in data["operations"].items()
    if "command" not in row
}
EXAMPLES = {each: path for path, row in ROWS.items() for each in row["examples"]}
SCHEMAS = schemas()

ELSEWHERE = ("postgresql:", "--live", "/tmp/try-uwf", "01JD8 01JD9", "-o work.patch",
             "~/backup/home")  # fmt: skip
"""What needs a server, a model, a fixed folder, git or another program: other tests run it."""
CODES = {
    "uwf thread diff 01JD8ZK3 @last": 1,
    "uwf thread diff 01JD8ZK3 @last -o diff.html": 1,
    "uwf thread resume 01JD8 --grant cost=5": 2,  # it is at no limit
    'uwf thread resume @last -p "Use the second option"': 3,  # it asks again
    "uwf inbox --answer": 2,  # it needs a terminal
    "uwf thread stop @last": 2,  # nothing runs
    "uwf run ./review.yaml -p @task.md --agent human": 3,  # it asks
}
STATES = {
    "thread.exec": "idle", "thread.cancel": "idle", "thread.stop": "idle", "thread.resume": "asked",
    "thread.rm": "cancelled", "thread.wait": "idle",
}  # fmt: skip
"""The thread that an example is about; else it is completed."""

FIX_BUG = """\
version: 1
name: fix-bug
description: a change is made and reviewed
record: true
roles:
  developer:
    goal: repair it
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  reviewer:
    goal: review it
    frontmatter:
      oneOf:
        - {properties: {$status: {const: approved}}, required: [$status]}
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
graph:
  $START:
    new: {role: developer, prompt: Begin.}
    resume: {role: developer, prompt: Again.}
  developer:
    done: {role: reviewer, prompt: Review it.}
  reviewer:
    approved: {role: $END, prompt: Good.}
    rejected: {role: developer, prompt: "{{{comments}}}"}
"""
REVIEW = FIX_BUG.replace("name: fix-bug", "name: review").replace(
    "new: {role: developer", "new: {role: reviewer"
)
"""A person can answer its first role."""
TRIAGE = FIX_BUG.replace("name: fix-bug", "name: triage").replace(
    "roles:", "input: {properties: {issue: {type: integer}, labels: {type: array}}}\nroles:", 1
)
ASK = FIX_BUG.replace("name: fix-bug", "name: ask").replace("developer", "asker")
RELEASE = FIX_BUG.replace("name: fix-bug", "name: release")
CONFIG = """\
agents: {hermes: {use: mock}, claude-code: {use: mock}, builtin: {use: mock}}
models: {gpt-4.1: {provider: openai, name: gpt-4.1}}
"""
STEPS = [
    {"role": "developer", "output": {"$status": "done"}},
    {"role": "reviewer", "output": {"$status": "approved"}},
    {"role": "asker", "suspend": {"reason": "Which option?"}},
]


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A project with threads in every state, and a copy of all of it."""
    root = tmp_path_factory.mktemp("examples") / "root"
    project = Project(root)
    for name, text in (("fix-bug", FIX_BUG), ("review", REVIEW), ("triage", TRIAGE), ("ask", ASK)):
        project.workflow(name, text)
        (project.folder / f"{name}.yaml").write_text(text)
    for name in ("release", "watch"):
        text = RELEASE.replace("name: release", f"name: {name}")
        (project.folder / f"{name}.yaml").write_text(text)
    project.script(STEPS, by_role=True, repeat=True)
    project.config(CONFIG)
    for name, text in {
        "task.md": "the task", "summary.md": "what was done", "payload.json": "{}",
        "answer.json": '{"$status": "approved"}', "person.schema.json": '{"type": "object"}',
        "my-agent": "#!/bin/sh\necho '{}'\n",
    }.items():  # fmt: skip
        (project.folder / name).write_text(text)
    (project.folder / "my-agent").chmod(0o755)
    (root / "user/work/shop").mkdir(parents=True)
    (root / "user/.zfunc").mkdir()
    (root / "user/.config/fish/completions").mkdir(parents=True)
    words = {}
    with project.client() as client:
        client.add_workflow(project.folder / "fix-bug.yaml")
        words["workflow"] = client.workflow("fix-bug")["workflow"]
        words["other"] = client.run("review", "Another").document["thread"]
        words["idle"] = client.start("fix-bug", "Later")["thread"]
        words["asked"] = client.run("review", "Ask", agent="human").document["thread"]
        words["message"] = client.run("ask", "Ask").document["thread"]
        words["cancelled"] = client.start("fix-bug", "Never")["thread"]
        client.cancel(words["cancelled"])
        words["gone"] = client.start("fix-bug", "Never")["thread"]
        client.cancel(words["gone"])
        words["done"] = client.run("fix-bug", "The total").document["thread"]
        words["step"] = client.steps(words["done"])[-1]["step"]
        words["type"] = client.node(words["step"])["type"]
        client.export_thread(words["done"], project.folder / "thread.tar")
    project.uwf("store", "migrate", "sqlite:copy.db")
    project.uwf("thread", "tag", words["done"], "team=web")
    shutil.copytree(root, root.with_name("copy"), symlinks=True)
    return project, words


@pytest.fixture
def place(template):
    project, words = template
    root = project.folder.parent
    shutil.rmtree(root)
    shutil.copytree(root.with_name("copy"), root, symlinks=True)
    return project, words


def as_here(example: str, path: str, words) -> str:
    """The example with the ids and names of this project."""
    state = "message" if "the second option" in example else STATES.get(path, "done")
    thread = words[state]
    second = words["gone"] if path == "thread.rm" else words["asked"]
    for there, here in {
        "01JD8ZK3 @last": f"{words['other']} {thread}", "01JD9A2B": second,
        "01JD8ZK3": thread, "01JD8": thread, "@last": thread,
        "3FQ8K1M2N4P5Q": words["step"], "3FQ8K": words["step"], "3FQ8": words["step"],
        "6DJBC8QPVHWTA": words["workflow"], "CTS5P6RD8HMCS": words["type"],
    }.items():  # fmt: skip
        if path != "log.show" and not (path == "log.list" and there == "@last"):
            example = example.replace(there, here)
    return example


@pytest.mark.parametrize("example", [e for e in EXAMPLES if not any(w in e for w in ELSEWHERE)])
def test_an_example_runs(example, place):
    project, words = place
    path = EXAMPLES[example]
    for file in project.folder.rglob("*.yaml") if path == "workflow.new" else ():
        file.unlink()
    environment = {**project.env, "PATH": f"{Path(sys.executable).parent}:{project.env['PATH']}"}
    if path in ("schedule.pause", "schedule.resume", "schedule.rm", "schedule.run"):
        project.uwf("schedule", "add", "nightly", "30 2 * * *", "fix-bug", "-p", "The task")
    line = as_here(example, path, words)
    done = subprocess.run(
        ["bash", "-c", line], cwd=project.folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == CODES.get(example, 0), f"{line}\n{done.stderr}{done.stdout}"
    if path in SCHEMAS and done.stdout.startswith("{"):
        document, _ = json.JSONDecoder().raw_decode(done.stdout)
        Draft202012Validator(SCHEMAS[path]).validate(document)
