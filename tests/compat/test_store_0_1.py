"""A store that uwf-core 0.1 wrote is read, and its threads go on, with every later version."""

import json
import shutil
from pathlib import Path

import pytest

from uwf_core.testing.project import Project

STORE = Path(__file__).parent / "store-0.1"
SHOWN = json.loads((STORE / "shown.json").read_text("utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.home.mkdir(mode=0o700)
    shutil.copy(STORE / "store.db", made.home)
    made.env["UWF_MOCK_SCRIPT"] = str(STORE / "script.json")
    return made


@pytest.mark.parametrize("name", SHOWN)
def test_a_thread_is_shown_as_it_was(project, name):
    """Later versions may show more, never less or something else."""
    shown = project.uwf("thread", "show", SHOWN[name]["thread"]).document
    then = {key: value for key, value in SHOWN[name].items() if key != "hint"}
    assert {key: shown[key] for key in then} == then


def test_every_step_can_be_read(project):
    thread = SHOWN["finished"]["thread"]
    text = project.uwf("thread", "read", thread).stdout
    assert "ä 1.0" in text
    assert "Written." in text
    steps = project.uwf("step", "list", thread).document["steps"]
    assert [each["role"] for each in steps] == ["$START", *["writer", "reviewer"] * 2]
    first = project.uwf("step", "show", steps[1]["step"]).document
    assert first["output"] == {"$status": "done", "summary": "ä 1.0"}
    assert len(first["corrections"]) == 1
    assert first["usage"]["inputTokens"] == 20
    assert "Begin." in project.uwf("step", "read", steps[1]["step"], "--prompt").stdout


@pytest.mark.parametrize("name", ["middle", "failed"])
def test_a_thread_goes_on_to_its_end(project, name):
    done = project.uwf("thread", "exec", SHOWN[name]["thread"], "--until-done")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done


def test_a_finished_one_goes_on_and_a_new_one_begins(project):
    thread = SHOWN["finished"]["thread"]
    forked = project.uwf(
        "thread", "fork", project.uwf("step", "list", thread).document["steps"][2]["step"]
    )
    assert project.uwf("thread", "exec", forked.document["thread"]).exit_code == 0
    started = project.uwf("thread", "start", "pair", "-p", "another", "--cwd", "/")
    assert started.document["workflow"] == SHOWN["finished"]["workflow"]
