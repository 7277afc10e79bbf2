"""What agents are taught is true: every command exists, every example runs."""

import re
import shlex
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from uwf_core.api import CAPABILITIES
from uwf_core.cli.complete import find_place, options_of
from uwf_core.cli.main import EXIT_CODES
from uwf_core.cli.prompt import DOCUMENTS, document_text, front_of
from uwf_core.errors import FailureKind
from uwf_core.operations.rows import Row
from uwf_core.thread.names import STATUSES

SHORT = {"-p": "--prompt", "-c": "--count"}
PLACEHOLDERS = {"T", "W", "STEP", "THREAD", "TEXT", "FILE", "COMMAND", "AGENT", "WORKFLOW", "…"}


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of a document in one language."""
    return re.findall(rf"```{language}\n(.*?)```", document_text(name), re.DOTALL)


def calls(name: str) -> list[str]:
    """Every call of `uwf` in a document: in shell blocks and in backticks."""
    text = document_text(name)
    lines = [line for block in blocks(name, "bash") for line in block.splitlines()]
    lines += re.findall(r"`(uwf [^`]*)`", text)
    found = [part for line in lines for part in re.split(r" && |; ", line.split("  #")[0])]
    return [re.sub(r"^(\w+=\S+ )+", "", call) for call in found if "uwf " in call]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_call_in_a_document_is_one_that_exists(uwf, name):
    assert calls(name)
    for call in calls(name):
        words = shlex.split(re.sub(r"\[(--?[^]]*)\]", r"\1", call))[1:]
        if words[0] in PLACEHOLDERS:
            continue
        entry = find_place([word for word in words if not word.startswith("-")][:2]).entry
        if not isinstance(entry, Row) or not entry.help:
            entry = find_place(words[:1]).entry
        assert isinstance(entry, Row), call
        if not entry.help:  # of another distribution
            shown = uwf(words[0], "--help")
            assert shown.code == 0, call
            assert all(word in shown.out for word in words if word.startswith("-")), call
            continue
        known = options_of(entry)
        for word in words:
            if word.startswith("-") and word != "-":
                assert SHORT.get(word, word) in known, call


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_the_frontmatter_of_a_skill(uwf, name):
    answer = uwf("prompt", name)
    assert answer.code == 0
    front = yaml.safe_load(answer.out.split("---\n")[1])
    assert set(front) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9-]{1,64}", front["name"])
    assert 40 < len(front["description"]) <= 1024
    assert uwf("prompt", name, "--format", "json").document == {**front, "text": answer.out}
    assert front_of(answer.out) == front


def test_the_list_names_every_document(uwf):
    listed = uwf("prompt", "list").document["documents"]
    assert [each["document"] for each in listed] == list(DOCUMENTS)


def test_the_exit_codes_that_are_taught_are_those_of_the_help():
    taught = re.findall(r"^\| (\d+) \|", document_text("bootstrap"), re.MULTILINE)
    assert taught == [line.split()[0] for line in EXIT_CODES]


def test_the_statuses_that_are_taught_are_all_there_are():
    rows = re.findall(r"^\| (\w+)(?:, | \|)", document_text("bootstrap"), re.MULTILINE)
    assert set(STATUSES) <= set(rows)


def test_the_kinds_of_failure_that_are_taught_exist():
    table = document_text("adapter-developing").split("## Failures")[1].split("## Testing")[0]
    kinds = set(re.findall(r"`(\w+)`", table))
    assert kinds <= {kind.word for kind in FailureKind}
    for kind in re.findall(r'"kind": "(\w+)"', document_text("adapter-developing")):
        assert kind == "needs_answer" or kind in kinds


def test_the_capabilities_that_are_taught_exist():
    line = next(
        line
        for line in document_text("adapter-developing").splitlines()
        if "out of continue" in line
    )
    named = line.split("out of ")[1].split(";")[0].split(", ")
    assert set(named) == CAPABILITIES - {"structured", "usage"}


def test_the_workflow_that_is_taught_passes_the_check_and_runs_by_the_script_beside_it(
    uwf, project, monkeypatch
):
    workflow, *_parts, script = blocks("workflow-authoring", "yaml")
    (project.folder / "review.yaml").write_text(workflow)
    (project.folder / "script.yaml").write_text(script)
    checked = uwf("workflow", "check", "review.yaml").document
    assert checked == {"valid": True, "problems": []}
    monkeypatch.setenv("UWF_MOCK_SCRIPT", str(project.folder / "script.yaml"))
    answer = uwf("run", "./review.yaml", "-p", "Try", "--agent", "mock")
    assert answer.document["status"] == "completed"


def test_the_parts_that_are_taught_are_a_workflow_with_a_program_that_calls_another_one(
    uwf, project
):
    """The role of the program, and the call, put together to a file that the check accepts."""
    program, call = blocks("workflow-authoring", "yaml")[1:3]
    (project.folder / "develop.yaml").write_text(_workflow("develop", "approved, summary, file"))
    roles, graph = call.split("graph:\n")
    text = _workflow("solve", "planned, file, plan").replace("worker", "planner")
    text = text.replace("roles:\n", roles + textwrap.indent(program, "  "))
    text = text.replace("  planner:\n    planned: {role: $END, prompt: x}\n", graph)
    text += "  tests:\n    passed: {role: $END, prompt: x}\n    failed: {role: $END, prompt: x}\n"
    (project.folder / "solve.yaml").write_text(text.replace("role: checker", "role: tests"))
    checked = uwf("workflow", "check", "solve.yaml").document
    assert [each for each in checked["problems"] if each["severity"] == "error"] == []


def test_the_branches_that_are_taught_are_accepted_by_the_check(uwf, project):
    graph = blocks("workflow-authoring", "yaml")[3]
    fields = "{title: {type: string}, details: {type: string}}"
    task = f"{{type: object, properties: {fields}, required: [title]}}"
    tasks = f"tasks: {{type: array, items: {task}}}"
    text = _workflow("plan", "planned, tasks").replace("worker", "planner")
    text = text.replace("tasks: {type: string}", tasks)
    text = text.replace("graph:\n", ROLES_OF_BRANCHES + "graph:\n")
    text = text.replace(
        "  planner:\n    planned: {role: $END, prompt: x}\n", graph.split("\n", 1)[1]
    )
    text += "  reviewer:\n    ok: {role: $END, prompt: x}\n"
    (project.folder / "plan.yaml").write_text(text)
    checked = uwf("workflow", "check", "plan.yaml").document
    assert [each["code"] for each in checked["problems"]] == ["template-optional-field"]


ROLES_OF_BRANCHES = """\
  worker:
    goal: Work.
    frontmatter:
      oneOf:
        - properties: {$status: {const: done}, summary: {type: string}}
          required: [$status, summary]
        - {properties: {$status: {const: stuck}}, required: [$status]}
  reviewer:
    goal: Review.
    frontmatter: {properties: {$status: {const: ok}}, required: [$status]}
"""


def _workflow(name: str, fields: str) -> str:
    """A workflow of one role, `worker`, with one status and the fields after it."""
    status, *others = fields.split(", ")
    properties = "".join(f", {each}: {{type: string}}" for each in others)
    return f"""\
version: 1
name: {name}
roles:
  worker:
    goal: Work.
    frontmatter:
      properties: {{$status: {{const: {status}}}{properties}}}
      required: [$status{"".join(f", {each}" for each in others)}]
graph:
  $START:
    new: {{role: worker, prompt: x}}
    resume: {{role: worker, prompt: x}}
  worker:
    {status}: {{role: $END, prompt: x}}
"""


def test_the_loop_of_authoring_works_as_it_is_written(uwf):
    for call in blocks("workflow-authoring", "bash")[0].splitlines():
        assert uwf(*shlex.split(call.split(" #")[0])[1:]).code == 0, call


def test_the_agent_in_python_that_is_taught_plays_a_workflow(uwf, project):
    agent = Path(project.folder, "echo_agent.py")
    agent.write_text(blocks("adapter-developing", "python")[0])
    uwf("workflow", "new", "hello")
    text = (
        (project.folder / "hello.yaml")
        .read_text()
        .replace("required: [$status, summary]", "required: [$status]")
    )
    (project.folder / "hello.yaml").write_text(text)
    answer = uwf(
        "thread", "start", "./hello.yaml", "-p", "Try", "--agent", f"{sys.executable} {agent}"
    )
    assert answer.code == 0, answer.err
    step = uwf("thread", "exec", answer.document["thread"]).document["steps"][0]
    assert step["failure"] is None


def test_the_plugin_that_is_taught_is_one(tmp_path, uwf, project, monkeypatch):
    files = blocks("adapter-developing", "python")[1:3]
    for text in files:
        file = tmp_path / "site" / re.match(r"# (\S+)", text)[1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    info = tmp_path / "site" / "uwf_agent_echo-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: uwf-agent-echo\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[uwf.agents]\necho = uwf_agent_echo.plugin\n")
    done = project.uwf("agent", "check", "echo", env={"PYTHONPATH": str(tmp_path / "site")})
    assert done.document["ready"] is True, done.stdout
    project.config("defaultAgent: echo\n")
    (project.folder / "one.yaml").write_text(
        "version: 1\nname: one\nroles:\n  r:\n    goal: g\n    frontmatter:\n"
        "      properties: {$status: {const: done}}\n      required: [$status]\n"
        "graph:\n  $START:\n    new: {role: r, prompt: go}\n    resume: {role: r, prompt: go}\n"
        "  r:\n    done: {role: $END, prompt: end}\n"
    )
    ran = project.uwf(
        "run",
        "./one.yaml",
        "-p",
        "x",
        "--agent",
        "echo",
        env={"PYTHONPATH": str(tmp_path / "site")},
    )
    assert ran.document["status"] == "completed", ran.stderr
