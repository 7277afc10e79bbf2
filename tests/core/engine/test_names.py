"""What a configuration names is resolved before anything is paid for."""

import json
from pathlib import Path

import pytest
from tests.beside import beside
from tests.core.engine.conftest import APPROVED, DONE

from uwf_core.client import Client
from uwf_core.errors import ConfigError
from uwf_core.testing.project import Project

MODELS = """
providers: {here: {baseUrl: "http://localhost:1/v1"}}
models: {small: {provider: here, name: small}}
"""
RAISES = """
from uwf_core.api import ExtractorSpec, hookimpl
from uwf_core.errors import ConfigError

class Fails:
    def __init__(self, options, context):
        pass

    def extract(self, request):
        raise ConfigError("the extractor has changed its mind")

@hookimpl
def uwf_extractors():
    return [ExtractorSpec(name="fails", summary="-", factory="demo_fails:Fails")]
"""


@pytest.mark.parametrize(
    ("config", "key", "name"),
    [
        ("extractors: [frontmatter, gone]", "extractors", "gone"),
        (MODELS + "modelOverrides: {extract: nope}", "modelOverrides.extract", "nope"),
        (MODELS + "defaultModel: nope", "defaultModel", "nope"),
        ("agentOverrides: {loop: {reviewer: nobody}}", "agentOverrides.loop.reviewer", "nobody"),
    ],
)
def test_an_unknown_name_is_an_error_before_an_agent_starts(
    project: Project, uwf: Client, thread: str, config: str, key: str, name: str
) -> None:
    """Also that of a role which comes later; the thread stays as it was."""
    project.script([DONE, APPROVED])
    before = uwf.show(thread)
    project.config(config)
    with project.client() as wrong, pytest.raises(ConfigError, match=name) as error:
        wrong.exec(thread)
    assert key in (error.value.where or "")
    assert uwf.show(thread) == before
    assert not (project.home / "agents").exists()
    project.config("")
    with project.client() as right:
        assert right.exec(thread, until_done=True).document["status"] == "completed"


def test_a_name_that_is_not_used_here_is_no_error(project: Project, thread: str) -> None:
    project.script([DONE, APPROVED])
    project.config("agentOverrides: {other: {reviewer: nobody}}\nagents: {a: {use: nobody}}\n")
    with project.client() as uwf:
        assert uwf.exec(thread, until_done=True).exit_code == 0


def test_an_extractor_that_fails_after_the_agent_has_spoken_is_a_failed_attempt(
    project: Project, tmp_path: Path
) -> None:
    """What was paid is counted, and the thread can go on."""
    info = tmp_path / "site" / "demo_fails-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site" / "demo_fails.py").write_text(RAISES)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: demo-fails\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[uwf.extractors]\nfails = demo_fails\n")
    project.env["PYTHONPATH"] = str(tmp_path / "site")
    project.config("extractors: [fails]\n")
    turns = [{"role": "assistant", "text": "thinking"}]
    said = {"role": "developer", "output": "said", "usage": {"inputTokens": 9}, "turns": turns}
    project.script([said])
    ran = project.uwf("run", "loop", "-p", "The task.")
    assert (ran.exit_code, ran.document["status"]) == (1, "suspended")
    step = ran.document["steps"][0]
    assert (step["failure"]["kind"], step["usage"]["inputTokens"]) == ("internal", 9)
    assert "changed its mind" in step["failure"]["message"]
    project.config("")
    project.script([DONE, APPROVED])
    again = project.uwf("thread", "exec", ran.document["thread"], "--until-done")
    assert (again.exit_code, again.document["status"]) == (0, "completed")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("defaultAgent", "nobody"),
        ("agentOverrides.loop.developer", "nobody"),
        ("agents.mine", "{use: nobody}"),
        ("agents.mine.use", "nobody"),
        ("defaultModel", "nope"),
        ("modelOverrides.extract", "nope"),
        ("extractors", "[frontmatter, gone]"),
    ],
)
def test_config_set_takes_no_name_that_stands_for_nothing(
    project: Project, key: str, value: str
) -> None:
    file = project.config(MODELS)
    before = file.read_text()
    done = project.uwf("config", "set", key, value)
    assert (done.exit_code, done.error["code"]) == (2, "config")
    assert file.read_text() == before


def test_config_set_takes_names_that_there_are(project: Project) -> None:
    project.config(MODELS)
    for key, value in (
        ("agents.mine", "{use: human}"),
        ("defaultAgent", "mine"),
        ("agentOverrides.loop.developer", "./agent.py"),
        ("defaultModel", "small"),
        ("modelOverrides.extract", "small"),
        ("defaultModel", "null"),
    ):
        assert project.uwf("config", "set", key, value).exit_code == 0, key


def test_setup_takes_no_agent_that_stands_for_nothing(project: Project) -> None:
    words = ("setup", "--provider", "ollama", "--model", "m", "--no-trial", "--agent", "nobody")
    done = project.uwf(*words)
    assert (done.exit_code, done.error["code"]) == (2, "config")
    assert not (project.home / "config.yaml").exists()


def test_doctor_reports_every_name_that_stands_for_nothing(project: Project) -> None:
    project.config(
        f"{MODELS}modelOverrides: {{extract: nope}}\nextractors: [gone]\n"
        "agentOverrides: {loop: {developer: nobody}}\nagents: {mine: {use: nothing}}\n"
    )
    done = project.uwf("doctor", env={"UWF_BLOCK_PLUGINS": beside()})
    assert done.exit_code != 0
    told = json.dumps([each for each in done.document["checks"] if each["name"] == "names"])
    assert all(name in told for name in ("nope", "gone", "nobody", "nothing"))
