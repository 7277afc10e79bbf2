"""A plugin written for version 1.0 of the contract runs on every later 1.x."""

import hashlib
import json
from pathlib import Path

import pytest

from uwf_core.api import API_VERSION, STORE_API_VERSION
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
