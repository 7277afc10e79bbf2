"""`uwf agent check`: an agent's own checks, made with the options that its word stands for."""

import pytest

from uwf_core.testing.project import Project

CODE = """
from dataclasses import dataclass

from uwf_core.api import AgentSpec, Check, CheckResult, hookimpl


@dataclass(frozen=True, kw_only=True)
class Options:
    program: str = "echo"


class Parrot:
    def __init__(self, options, context):
        assert options.program in ("echo", "printf")

    def run(self, request, sink):
        raise AssertionError("an agent that is checked is not run")

    fork = ask = run

    def close(self):
        pass


def checks(request):
    def look():
        done = request.run_program([request.options.program, "hello"])
        return CheckResult(state="ok", message=done.stdout.decode().strip())

    def tell():
        seen = f"{request.name} {request.trial} {request.env['SEEN']}"
        return CheckResult(state="warning", message=seen, hint="a hint")

    return [Check(name="program", run=look), Check(name="seen", run=tell)]


@hookimpl
def uwf_agents():
    return [AgentSpec(name="parrot", summary="repeats", factory="uwf_parrot:Parrot",
                      options="uwf_parrot:Options", checks="uwf_parrot:checks",
                      env=("SEEN",))]
"""
CONFIG = "agents:\n  loud: {use: parrot, options: {program: printf}}\n"


@pytest.fixture
def parrot(project: Project, tmp_path):
    info = tmp_path / "site" / "uwf_parrot-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site" / "uwf_parrot.py").write_text(CODE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: uwf-parrot\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[uwf.agents]\nparrot = uwf_parrot\n")
    project.config(CONFIG)
    project.env |= {"PYTHONPATH": str(tmp_path / "site"), "SEEN": "of the call"}
    return project


def test_the_options_of_an_alias_and_the_wish_for_a_trial_reach_the_checks(parrot):
    plain = parrot.uwf("agent", "check", "parrot", "--format", "json")
    assert plain.exit_code == 0, plain.stderr
    assert plain.document["checks"] == [
        {"name": "program", "state": "ok", "message": "hello", "hint": None},
        {
            "name": "seen",
            "state": "warning",
            "message": "parrot False of the call",
            "hint": "a hint",
        },
    ]
    loud = parrot.uwf("agent", "check", "loud", "--trial", "--format", "json")
    assert [each["message"] for each in loud.document["checks"]] == [
        "hello",
        "loud True of the call",
    ]


def test_only_agent_check_runs_them(parrot):
    """`doctor` and `plugin check` are about what is installed, not about what it talks to."""
    told = parrot.uwf("plugin", "check", "parrot", "--format", "json")
    assert told.exit_code == 0
    assert "of the call" not in told.stdout


def test_wrong_options_are_the_reason_why_it_is_not_ready(parrot):
    parrot.config("agents:\n  bad: {use: parrot, options: {progam: x}}\n")
    told = parrot.uwf("agent", "check", "bad", "--format", "json")
    assert told.exit_code == 6
    assert not told.document["ready"]
    assert told.document["reason"] == "agents -> bad -> progam: progam is not a known key"
    assert told.document["hint"] == "did you mean 'program'?"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agents.bad", "{use: parrot, options: {progam: x}}"),
        ("agents.loud.options", "{program: 5}"),
        ("agents.loud.use", "human"),
    ],
)
def test_an_alias_gets_only_the_options_that_its_agent_has(parrot, key, value):
    refused = parrot.uwf("config", "set", key, value)
    assert (refused.exit_code, refused.error["code"]) == (2, "config")
    assert refused.error["where"].startswith("agents -> ")
    assert (parrot.home / "config.yaml").read_text() == CONFIG
    assert parrot.uwf("config", "set", "agents.loud.options", "{program: echo}").exit_code == 0


def test_an_agent_that_cannot_be_asked_for_its_options_takes_any(parrot, tmp_path):
    """A broken or missing plugin is the failure of a run, and may be repaired later."""
    (tmp_path / "site" / "uwf_parrot.py").write_text("raise RuntimeError('no')\n")
    assert parrot.uwf("config", "set", "agents.loud.options", "{a: 1}").exit_code == 0


def test_an_alias_with_wrong_options_is_not_ready_also_where_the_agent_has_no_checks(project):
    project.config("agents:\n  bad: {use: mock, options: {scirpt: x}}\n")
    told = project.uwf("agent", "check", "bad", "--format", "json")
    assert (told.exit_code, told.document["ready"]) == (6, False)
    assert told.document["reason"] == "agents -> bad -> scirpt: scirpt is not a known key"
    assert told.document["hint"] == "did you mean 'script'?", "the alias is wrong, not the plugin"
    assert project.uwf("agent", "check", "mock", "--format", "json").document["ready"]


def test_builtin_is_not_ready_without_a_model(project):
    told = project.uwf("agent", "check", "builtin", "--format", "json")
    assert (told.exit_code, told.document["ready"]) == (6, False)
    assert "needs a model" in told.document["reason"]
    assert "uwf setup" in told.document["hint"]
    project.config(
        "providers: {here: {baseUrl: http://localhost:1/v1}}\n"
        "models: {small: {provider: here, name: tiny}}\n"
        "defaultModel: small\n"
    )
    told = project.uwf("agent", "check", "builtin", "--format", "json")
    assert told.document["checks"][0]["message"] == "tiny at http://localhost:1/v1"
    assert told.document["ready"]


def test_an_alias_of_an_agent_that_is_not_installed_hides_no_other_agent(project):
    project.config("agents:\n  lost: {use: nosuch}\n  fine: {use: mock}\n")
    listed = project.uwf("agent", "list", "--format", "json")
    assert listed.exit_code == 0, listed.stderr
    rows = {each["name"]: each for each in listed.document["agents"]}
    assert (rows["lost"]["status"], rows["lost"]["use"]) == ("broken", "nosuch")
    assert "unknown agent 'nosuch'" in rows["lost"]["reason"]
    assert (rows["fine"]["status"], rows["mock"]["status"]) == ("ready", "ready")
    assert "lost" in project.uwf("agent", "list", "--format", "text").stdout
