"""Executables `uwf-NAME` on the PATH are agents; one in a cloned repository is not."""

import os
from pathlib import Path

import pytest

from uwf_core.agents.on_path import agents_on_path
from uwf_core.testing.project import Project

AGENT = """#!/bin/sh
echo '{"output": {"$status": "done", "by": "'"$(basename "$0")"'"}}'
"""
ONE = """version: 1
name: one
description: One role.
roles:
  worker:
    goal: Work.
    frontmatter:
      properties: {$status: {const: done}, by: {type: string}}
      required: [$status]
graph:
  $START:
    new: {role: worker, prompt: "Work."}
    resume: {role: worker, prompt: "Again."}
  worker:
    done: {role: $END, prompt: "Done."}
"""


def program(folder: Path, name: str, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(AGENT)
    file.chmod(mode)
    return file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.workflow("one", ONE)
    program(tmp_path / "bin", "uwf-mine")
    made.env["PATH"] = f"{tmp_path / 'bin'}:{made.env['PATH']}"
    return made


@pytest.mark.parametrize("word", ["mine", "uwf-mine"])
def test_a_program_on_the_path_plays_a_role_without_configuration(project: Project, word: str):
    run = project.uwf("run", "one", "-p", "task", "--agent", word)
    assert run.document["status"] == "completed", run.stderr
    step = project.uwf("step", "show", "@last", "--format", "json").document
    assert (step["agent"], step["output"]["by"]) == ("uwf-mine", "uwf-mine")


def test_a_poked_step_keeps_the_program_that_played_it(project: Project):
    assert project.uwf("run", "one", "-p", "task", "--agent", "mine").exit_code == 0
    poked = project.uwf("thread", "poke", "@last", "-p", "again")
    assert poked.exit_code == 0, poked.stderr
    assert project.uwf("step", "show", "@last", "--format", "json").document["agent"] == "uwf-mine"


def test_an_alias_and_an_installed_agent_go_before_it(project: Project, tmp_path: Path):
    program(tmp_path / "bin", "uwf-mock")
    project.config("agents:\n  mine: {use: human}\n")
    check = {word: project.uwf("agent", "check", word).document for word in ("mine", "mock")}
    assert (check["mine"]["resolved"], check["mock"]["resolved"]) == ("human", "mock")


def test_agent_list_shows_it_with_its_path(project: Project, tmp_path: Path):
    rows = {each["name"]: each for each in project.uwf("agent", "list").document["agents"]}
    assert rows["uwf-mine"]["use"] == str(tmp_path / "bin" / "uwf-mine")
    assert (rows["uwf-mine"]["kind"], rows["uwf-mine"]["status"]) == ("command", "ready")
    assert rows["uwf-mine"]["capabilities"] == []
    assert "uwf-eval" not in rows, "the program of a command is not an agent"
    assert "uwf-mine" in project.uwf("__complete", "bash", "3", "uwf", "agent", "check", "").stdout


@pytest.mark.parametrize("entry", ["", ".", "..", "project", "{folder}", "{folder}/../project/"])
def test_no_program_is_taken_from_the_current_folder(project: Project, entry: str):
    """A relative or empty entry of the PATH, or the folder itself, would run a clone's file."""
    program(project.folder, "uwf-theirs")
    program(project.folder.parent, "uwf-theirs")
    project.env["PATH"] = f"{entry.format(folder=project.folder)}:{project.env['PATH']}"
    run = project.uwf("run", "one", "-p", "task", "--agent", "theirs")
    assert (run.exit_code, run.error["code"]) == (2, "unknown-id")
    listed = project.uwf("agent", "list").document["agents"]
    assert "uwf-theirs" not in {each["name"] for each in listed}


def test_no_program_is_taken_from_the_folder_of_the_thread(project: Project, tmp_path: Path):
    program(tmp_path / "clone", "uwf-theirs")
    project.env["PATH"] = f"{tmp_path / 'clone'}:{project.env['PATH']}"
    run = project.uwf(
        "run", "one", "-p", "task", "--agent", "theirs", "--cwd", str(tmp_path / "clone")
    )
    assert run.exit_code == 2


def test_only_executable_files_count_and_the_first_of_a_name_wins(tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    mine = program(first, "uwf-mine")
    program(second, "uwf-mine")
    program(second, "uwf-plain", 0o644)
    program(second, "uwf-with blank")
    program(second, "uwf-")
    (second / "uwf-folder").mkdir()
    linked = second / "uwf-linked"
    linked.symlink_to(mine)
    (second / "uwf-broken").symlink_to(second / "missing")
    (second / "uwf-loop").symlink_to("uwf-loop")
    path = os.pathsep.join(map(str, (tmp_path / "missing", first, second)))
    assert agents_on_path(path, ()) == {"uwf-mine": str(mine), "uwf-linked": str(linked)}


def test_a_bundle_chooses_no_program_on_the_path(project: Project, tmp_path: Path):
    """What the nodes of an imported thread name is not run."""
    start = project.uwf("thread", "start", "one", "-p", "task", "--agent", "mine").document
    bundle = str(tmp_path / "thread.tar")
    assert project.uwf("thread", "export", start["thread"], "-o", bundle).exit_code == 0
    other = Project(tmp_path / "other")
    other.env["PATH"] = project.env["PATH"]
    assert other.uwf("cas", "import", bundle).exit_code == 0
    cwd = str(other.folder)
    run = other.uwf("thread", "exec", start["thread"], "--cwd", cwd)
    assert run.exit_code == 2
    assert "bundle" in run.error["message"]
    chosen = other.uwf("thread", "exec", start["thread"], "--cwd", cwd, "--agent", "mine")
    assert chosen.exit_code == 0, chosen.stderr
