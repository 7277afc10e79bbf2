"""A plugin written for version 1.0 of the contract runs on every later 1.x."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from uwf_core.api import API_VERSION, STORE_API_VERSION, hookspecs
from uwf_core.plugins.deprecations import DEPRECATED
from uwf_core.testing.project import Project

SOURCE = Path(__file__).parent / "api-1.0"
DIGEST = "8aa7b38ce7f1651c1a03f0dc435c066e7fd4ba65c83a676ce9c3f63129fce5a8"

ENTRY_POINTS = """\
[uwf.agents]
frozen = uwf_frozen.plugin
[uwf.stores]
frozen = uwf_frozen.plugin
[uwf.extractors]
frozen = uwf_frozen.plugin
[uwf.judges]
frozen = uwf_frozen.plugin
[uwf.tools]
frozen = uwf_frozen.plugin
[uwf.observers]
frozen = uwf_frozen.observer
[uwf.commands]
frozen = uwf_frozen.command:command
"""
METADATA = """\
Metadata-Version: 2.1
Name: uwf-frozen
Version: 1.0
Requires-Dist: uwf-core>=0.1,<1
"""
WORKFLOW = """\
version: 1
name: two
description: Two roles.
roles:
  first: &role
    goal: work
    frontmatter:
      properties: {$status: {const: done}, said: {type: string}, answer: {type: string}}
      required: [$status, said]
  second: *role
graph:
  $START:
    new: {role: first, prompt: Begin.}
    resume: {role: first, prompt: Again.}
  first:
    done: {role: second, prompt: "Go on: {{{said}}}"}
  second:
    done: {role: $END, prompt: Done.}
"""
CONFIG = """\
store: "frozen:frozen.pickle"
defaultAgent: old
extractors: [frozen, frontmatter]
agents:
  old: {use: frozen, options: {greeting: good day, maxTurns: 5, words: [a, b]}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    site = tmp_path / "site"
    package = site / "uwf_frozen"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for source in SOURCE.glob("*.txt"):
        (package / f"{source.stem}.py").write_text(source.read_text("utf-8"), "utf-8")
    info = site / "uwf_frozen-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    made = Project(tmp_path)
    made.env |= {"PYTHONPATH": str(site), "FROZEN_OBSERVER": str(tmp_path / "told.jsonl")}
    del made.env["UWF_DEFAULT_AGENT"]
    made.workflow("two", WORKFLOW)
    made.config(CONFIG)
    return made


def test_its_source_is_what_it_was():
    """Whoever changes it, so that a test passes, breaks everybody who wrote one like it."""
    digest = hashlib.sha256()
    for source in sorted(SOURCE.glob("*.txt")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    assert digest.hexdigest() == DIGEST


def test_this_version_of_the_contract_still_takes_it():
    assert API_VERSION.split(".")[0] == STORE_API_VERSION.split(".")[0] == "1"


def test_every_part_of_it_is_ready(project):
    checked = project.uwf("plugin", "check", "uwf-frozen")
    assert checked.exit_code == 0, checked
    plugins = checked.document["plugins"]
    assert {each["group"].removeprefix("uwf.") for each in plugins} == {
        "agents", "stores", "extractors", "judges", "tools", "observers", "commands",
    }  # fmt: skip
    agent = next(each for each in plugins if each["group"] == "uwf.agents")
    assert [each["message"] for each in agent["checks"]] == ["fine", "old"]


LOOK = """\
import json, os, sys
from uwf_core.agents.choose import resolve_agent
from uwf_core.maintenance.agent_ready import readiness
from uwf_core.maintenance.plugin_probe import look
from uwf_core.engine.open_engine import open_engine
from uwf_core.plugins.deprecations import Deprecation

TABLE = (
    Deprecation("1.4", "2.0", "write it for 1.3", below="1.3"),
    Deprecation("1.2", "2.0", "write it for 1.1", below="1.0"),
    Deprecation("1.5", "2.0", "store more", contract="STORE_API_VERSION", below="1.1"),
    Deprecation("1.6", "2.0", "use uwf_step_finished", hook="uwf_turn"),
)
engine = open_engine(env=os.environ, cwd=os.getcwd())
found = {group: look(engine, f"uwf.{group}", "frozen", (), TABLE)
         for group in ("agents", "stores", "observers", "commands")}
choice = resolve_agent("frozen", engine.agent_catalog(engine.cwd))
ready = readiness(engine, choice, found["agents"])["ready"]
warnings = {group: [[each["message"], each["hint"]] for each in answer["checks"]
                    if (each["name"], each["state"]) == ("contract", "warning")]
            for group, answer in found.items()}
print(json.dumps({"ready": ready, "warnings": warnings}))
"""


def test_a_version_and_a_hook_that_are_deprecated_are_warnings_and_it_stays_ready(project):
    """Today nothing is deprecated: so a table in which it is."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOOK],
        cwd=project.folder, env=project.env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    old = "contract version 1.0 is deprecated since {}, and removed in 2.0"
    hook = "the hook uwf_turn is deprecated since 1.6, and removed in 2.0"
    assert json.loads(done.stdout) == {
        "ready": True,
        "warnings": {
            "agents": [[old.format("1.4"), "write it for 1.3"]],
            "stores": [[old.format("1.5"), "store more"]],
            "observers": [[hook, "use uwf_step_finished"]],
            "commands": [],
        },
    }


def test_nothing_of_it_is_deprecated_today(project):
    checked = project.uwf("plugin", "check", "uwf-frozen").document["plugins"]
    assert not any(check["name"] == "contract" for each in checked for check in each["checks"])
    assert all(each.hook is None or hasattr(hookspecs, each.hook) for each in DEPRECATED)


def test_it_plays_a_workflow_in_its_own_store_by_its_own_extractor(project, tmp_path):
    ran = project.uwf("run", "two", "-p", "the task")
    assert (ran.exit_code, ran.document["status"]) == (0, "completed"), ran
    thread = ran.document["thread"]
    assert (project.home / "frozen.pickle").exists()
    assert not (project.home / "store.db").exists()
    step = project.uwf("step", "show", ran.document["steps"][1]["step"]).document
    assert step["output"]["said"] == "good day: Go on: good day: Begin."
    assert step["usage"]["inputTokens"] == 10
    assert step["denials"] == ["write_file"]
    told = [json.loads(line)[0] for line in (tmp_path / "told.jsonl").read_text().splitlines()]
    started, finished = ["uwf_step_started", "uwf_turn", "uwf_turn"], ["uwf_step_finished"]
    assert told == ["uwf_thread_started", *(started + finished) * 2, "uwf_thread_ended"]
    assert project.uwf("frozen", thread).stdout == "completed after 2 steps\n"


def test_its_session_goes_on_forks_answers_and_asks(project):
    project.uwf("run", "two", "-p", "the task")
    answer = project.uwf("step", "ask", "@last", "-p", "What?").document
    assert (answer["continuation"], answer["answer"][:5]) == ("original", "What?"), answer
    poked = project.uwf("thread", "poke", "@last", "-p", "more").document
    assert poked["steps"][0]["failure"] is None, poked
    resumed = project.uwf("thread", "resume", "@last", "-p", "ask a person").document
    assert resumed["status"] == "suspended", resumed
    answered = project.uwf("thread", "resume", "@last", "--answer", '{"which": "one"}').document
    assert answered["steps"][0]["failure"] is None, answered
    failed = project.uwf("thread", "poke", "@last", "-p", "fail")
    assert (failed.exit_code, failed.document["steps"][0]["failure"]["kind"]) == (6, "rate_limited")
