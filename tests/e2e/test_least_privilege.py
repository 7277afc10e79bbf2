"""An agent gets the variables and the model that it declares, and no key of others."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from uwf_core.client import Client
from uwf_core.testing.project import Project

WORKFLOW = """
version: 1
name: one
roles:
  only:
    goal: work
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: only, prompt: Begin.}
    resume: {role: only, prompt: Again.}
  only:
    done: {role: $END, prompt: Finished.}
"""

PROGRAM = """\
#!{python} -IS
import json, os, sys
with open({file!r}, "a") as file:
    request = os.environ.get("UWF_REQUEST")
    told = {{"env": dict(os.environ), "request": json.load(open(request)) if request else None}}
    print(json.dumps(told), file=file)
print(json.dumps({{"output": "---\\n$status: done\\n---\\n"}}))
"""

CONFIG = """
providers: {{mine: {{baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: MINE_API_KEY}}}}
models: {{big: {{provider: mine, name: big}}}}
defaultModel: big
agents: {{it: {agent}}}
"""

ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_TIME": "C",
    "TZ": "UTC",
    "https_proxy": "http://proxy.invalid:1",
    "XDG_RUNTIME_DIR": "/run/nowhere",
    "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
    "AWS_SECRET_ACCESS_KEY": "key-of-a-cloud",
    "AWS_REGION": "eu-central-1",
    "GITHUB_TOKEN": "token-of-a-host",
    "OPENAI_API_KEY": "key-of-a-service",
    "ANTHROPIC_API_KEY": "key-of-claude",
    "CLAUDE_CONFIG_DIR": "/nowhere/claude",
    "HERMES_YOLO": "0",
    "SSH_AUTH_SOCK": "/nowhere/agent",
}
USUAL = {"LANG", "LC_TIME", "TZ", "https_proxy", "XDG_RUNTIME_DIR", "SSL_CERT_FILE"}
KEY = "key-of-the-default-model"


class Witness:
    """A project whose agent is a program that writes down what it was given."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        self.project.workflow("one", WORKFLOW)
        self._log = folder / "log"
        self.program = folder / "program"
        self.program.write_text(PROGRAM.format(python=sys.executable, file=str(self._log)))
        self.program.chmod(0o755)

    def open(self, agent: dict[str, Any], **options: Any) -> Client:
        self.project.config(CONFIG.format(agent=json.dumps(agent)))
        dotenv = self.project.home / ".env"
        dotenv.write_text(f"MINE_API_KEY={KEY}\n")
        dotenv.chmod(0o600)
        environment = {**self.project.env, **ENVIRONMENT}
        return Client.open(env=environment, cwd=self.project.folder, default_agent="it", **options)

    def told(self, agent: dict[str, Any], **options: Any) -> dict[str, Any]:
        """What the program was given when its role was run."""
        with self.open(agent, **options) as uwf:
            uwf.exec(uwf.start("one", "The task.")["thread"])
        return self.last

    @property
    def last(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._log.read_text().splitlines()[-1])
        return told

    @staticmethod
    def given(told: dict[str, Any]) -> set[str]:
        """Which variables of the test it was given."""
        return {*told["env"]} & {*ENVIRONMENT, "MINE_API_KEY"}


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    return Witness(tmp_path)


def test_a_command_gets_no_key_that_it_does_not_declare(witness: Witness) -> None:
    told = witness.told({"command": str(witness.program)})
    assert witness.given(told) == USUAL
    assert {"PATH", "HOME", "UWF_HOME", "UWF_ATTEMPT"} <= {*told["env"]}
    assert told["request"]["model"] is None
    assert KEY not in json.dumps(told)


def test_a_command_gets_the_variables_that_its_alias_names(witness: Witness) -> None:
    """By name, or by how names begin; what `.env` adds is among them."""
    names = ["MINE_API_KEY", "AWS_*", "NOT_SET"]
    told = witness.told({"command": str(witness.program), "env": names})
    assert witness.given(told) == USUAL | {*("MINE_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")}
    assert told["env"]["MINE_API_KEY"] == KEY
    everything = witness.told({"command": str(witness.program), "env": ["*"]})
    assert witness.given(everything) == {*ENVIRONMENT, "MINE_API_KEY"}


def test_a_command_gets_the_default_model_and_its_key_if_it_declares_a_model(
    witness: Witness,
) -> None:
    told = witness.told({"command": str(witness.program), "capabilities": ["model"]})
    assert (told["request"]["model"]["alias"], told["request"]["model"]["apiKey"]) == ("big", KEY)
    assert "MINE_API_KEY" not in told["env"]


def test_a_question_gives_no_more_than_the_step_did(witness: Witness) -> None:
    agent = {"command": str(witness.program), "env": ["AWS_REGION"], "capabilities": ["ask"]}
    with witness.open(agent) as uwf:
        thread = uwf.start("one", "The task.")["thread"]
        uwf.exec(thread)
        uwf.ask(uwf.steps(thread)[1]["step"], "Why?")
    told = witness.last
    assert told["request"]["mode"] == "ask"
    assert witness.given(told) == USUAL | {"AWS_REGION"}
    assert told["request"]["model"] is None


def test_a_program_passes_variables_to_every_agent_that_it_runs(witness: Witness) -> None:
    """As uwf-eval does with the `env` of a task."""
    told = witness.told({"command": str(witness.program)}, pass_env=("AWS_REGION",))
    assert witness.given(told) == USUAL | {"AWS_REGION"}


@pytest.mark.parametrize(
    ("agent", "own"),
    [
        ("claude-code", {"ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR"}),
        ("hermes", {"HERMES_YOLO"}),
    ],
)
def test_a_plugin_gets_its_own_variables_and_those_that_its_alias_names(
    witness: Witness, agent: str, own: set[str]
) -> None:
    options = {"command": str(witness.program)}
    assert witness.given(witness.told({"use": agent, "options": options})) == USUAL | own
    named = witness.told({"use": agent, "options": options, "env": ["GITHUB_TOKEN"]})
    assert witness.given(named) == USUAL | own | {"GITHUB_TOKEN"}


@pytest.mark.parametrize("name", ["", "A B", "A=B", "*A", "A*B", "1A", 7])
def test_what_names_no_variable_is_refused(witness: Witness, name: object) -> None:
    witness.project.config(
        CONFIG.format(agent=json.dumps({"command": str(witness.program), "env": [name]}))
    )
    done = witness.project.uwf("config", "show")
    assert done.exit_code == 2
    assert "agents.it.env.0" in done.stderr
