"""Tools that other distributions bring: found, offered, called and narrowed as the house's own."""

import json
import os
import subprocess
import sys

import pytest
from builtin_kit import turn, use

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

MODULE = """
from uwf_core.api import ToolSpec, hookimpl

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

@hookimpl
def uwf_tools():
    return [ToolSpec(name="shout", description="Says it loudly.", parameters=SCHEMA,
                     factory="tools_of_others:made")]

def made():
    def shout(arguments, context):
        if arguments["text"] == "fail":
            raise OSError("no voice")
        secret = context.env.get("MODEL_KEY", "no key")
        return f"{arguments['text'].upper()} in {context.cwd}, {secret}"
    return shout
"""
WORKFLOW = """
version: 1
name: shout
description: Says it.
roles:
  speaker:
    goal: Say it.
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
  reader:
    goal: Read it.
    tools: [read_file]
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: speaker, prompt: Say it.}
    resume: {role: speaker, prompt: Again.}
  speaker: {done: {role: reader, prompt: Read it.}}
  reader: {done: {role: $END, prompt: Done.}}
"""
ALONE = """
version: 1
name: alone
description: Says it.
roles:
  speaker:
    goal: Say it.
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: speaker, prompt: Say it.}
    resume: {role: speaker, prompt: Again.}
  speaker: {done: {role: $END, prompt: Done.}}
"""
DONE = "---\n$status: done\n---\n"
PLUGIN = "{use: builtin}"
COMMAND = (
    f"{{command: {sys.executable}, args: [-m, uwf_agent_builtin.command], "
    "capabilities: [continue, fork, ask, stream, tools, model], env: [PYTHONPATH]}"
)


@pytest.fixture
def project(tmp_path):
    """A project beside which a distribution with a tool is installed."""
    info = tmp_path / "site" / "tools_of_others-1.0.dist-info"
    info.mkdir(parents=True)
    demand = "Requires-Dist: uwf-core>=0.1,<1"
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: tools-of-others\nVersion: 1.0\n{demand}\n"
    )
    (info / "entry_points.txt").write_text("[uwf.tools]\nshout = tools_of_others\n")
    (tmp_path / "site" / "tools_of_others.py").write_text(MODULE)
    project = Project(tmp_path)
    del project.env["UWF_DEFAULT_AGENT"]
    project.env |= {"PYTHONPATH": str(tmp_path / "site"), "MODEL_KEY": "sk-the-key-of-the-model"}
    project.workflow("shout", WORKFLOW)
    return project


def configure(project, model, use_as):
    project.config(
        f"providers: {{local: {{baseUrl: {model.openai_url}, apiKeyEnv: MODEL_KEY}}}}\n"
        "models: {scripted: {provider: local, name: scripted-model}}\n"
        f"defaultModel: scripted\ndefaultAgent: worker\nagents: {{worker: {use_as}}}\n"
    )


@pytest.mark.parametrize("use_as", [PLUGIN, COMMAND], ids=["plugin", "command"])
def test_a_tool_of_an_installed_distribution_is_offered_called_and_narrowed(project, use_as):
    calls = turn(use("shout", text="hello"), use("shout", text="fail"), use("shout"))
    refused = turn(use("shout", text="hello"))
    with ScriptedModel([calls, DONE, refused, DONE]) as model:
        configure(project, model, use_as)
        outcome = project.uwf("run", "shout", "-p", "x")
        assert outcome.exit_code == 0, outcome.stderr
        asked = model.requests
    assert "shout" in asked[0].tool_names
    said, failed, wrong = (each["content"] for each in asked[1].messages[-3:])
    assert said == f"HELLO in {project.folder}, no key"
    assert failed == "shout failed: OSError: no voice"
    assert '"text" is a required property' in wrong
    assert set(asked[2].tool_names) == {"read_file", "resolve"}
    assert "narrowed to other tools" in asked[3].messages[-1]["content"]


def test_a_blocked_or_broken_tool_is_left_out_and_the_step_goes_on(project):
    project.workflow("alone", ALONE)
    with ScriptedModel([DONE, DONE]) as model:
        configure(project, model, COMMAND)
        blocked = project.uwf("run", "alone", "-p", "x", env={"UWF_BLOCK_PLUGINS": "shout"})
        configure(project, model, PLUGIN)
        (project.folder.parent / "site" / "tools_of_others.py").write_text("raise OSError('gone')")
        broken = project.uwf("run", "alone", "-p", "x")
        asked = model.requests
    assert (blocked.exit_code, broken.exit_code) == (0, 0), broken.stderr
    assert not any("shout" in each.tool_names for each in asked)
    assert "OSError: gone" in broken.stderr and "tools-of-others 1.0" in broken.stderr


def test_chat_has_them_too(project):
    with ScriptedModel([turn(use("shout", text="hello")), "It was loud."]) as model:
        command = [sys.executable, "-m", "uwf_agent_builtin.command", "chat", "-p", "x"]
        done = subprocess.run(
            [*command, "--base-url", model.openai_url, "--model", "m"],
            cwd=project.folder,
            env={**project.env, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "HELLO in" in json.dumps(model.requests[1].messages[-1])
    assert (done.returncode, done.stdout) == (0, "It was loud.\n"), done.stderr
