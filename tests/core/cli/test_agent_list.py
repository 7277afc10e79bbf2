"""`uwf agent list`: an agent whose program is not there is not called ready."""

import pytest

from uwf_agent_acp.agent.known import CLAUDE_CODE, CODEX, GEMINI, GOOSE, OPENCODE, QWEN
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_agent_claude_code.placeholder import INSTALL
from uwf_agent_hermes import failures as hermes
from uwf_agent_hermes.options import HermesOptions
from uwf_core.plugins.family import program_of
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import AGENTS, Distribution, EntryPoint


@pytest.fixture
def rows(uwf, project, monkeypatch, tmp_path):
    """The rows by name, where the PATH has these programs and no others."""

    def listed(*programs, form="json"):
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        for name in programs:
            (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/was-started\n")
            (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        answer = uwf("agent", "list", "--format", form)
        assert answer.code == 0, answer.err
        if form == "text":
            return answer.out
        return {each["name"]: each for each in answer.document["agents"]}

    return listed


def test_an_agent_without_its_program_is_not_installed_and_says_what_installs_it(rows):
    found = rows()
    for name, program in (("claude-code", "claude"), ("acp:codex", "codex-acp")):
        assert found[name]["status"] == "not installed"
        assert f"program {program!r} not found; npm install -g @" in found[name]["reason"]
    assert (found["human"]["status"], found["mock"]["status"]) == ("ready", "ready")
    assert "npm install -g @anthropic-ai/claude-code" in rows(form="text")


def test_an_agent_with_its_program_is_ready_and_its_program_is_not_started(rows, tmp_path):
    found = rows("claude", "hermes")
    assert (found["claude-code"]["status"], found["hermes"]["status"]) == ("ready", "ready")
    assert found["acp:gemini"]["status"] == "not installed"
    assert not (tmp_path / "was-started").exists()


def test_an_alias_is_ready_if_the_program_that_it_names_is_there(rows, project, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    project.config(
        "agents:\n"
        f"  mine: {{use: claude-code, options: {{command: {mine}}}}}\n"
        "  gone: {use: claude-code, options: {command: /nowhere/claude}}\n"
        "  plain: {use: claude-code}\n"
    )
    found = rows()
    assert found["mine"]["status"] == "ready"
    assert found["gone"]["reason"] == "program '/nowhere/claude' not found"
    assert found["plain"]["status"] == "not installed"


MODEL = """\
providers: {local: {baseUrl: 'http://127.0.0.1:1/v1', protocol: openai-chat}}
models: {small: {provider: local, name: m}}
"""


def test_an_agent_that_would_refuse_to_run_is_not_configured_and_says_what_is_missing(
    rows, project, uwf
):
    project.config("agents: {mine: {use: acp}, other: {use: acp, options: {command: gone}}}\n")
    found = rows()
    for name in ("acp", "mine", "builtin"):
        assert found[name]["status"] == "not configured"
        checked = uwf("agent", "check", name).document
        assert not checked["ready"]
        assert found[name]["reason"] == f"{checked['reason']}; {checked['hint']}"
    assert "needs the option `command`" in found["mine"]["reason"]
    assert "needs a model" in found["builtin"]["reason"]
    assert (found["other"]["status"], found["other"]["reason"]) == (
        "not installed", "program 'gone' not found",
    )  # fmt: skip
    assert "not configured" in rows(form="text")


def test_an_agent_is_ready_with_what_it_needs(rows, project):
    project.config(f"{MODEL}defaultModel: small\nagents: {{mine: {{use: acp, "
                   "options: {command: my-agent}}}\n")  # fmt: skip
    found = rows("my-agent")
    assert (found["builtin"]["status"], found["mine"]["status"]) == ("ready", "ready")
    project.config(f"{MODEL}defaultModel: smal\n")
    assert "smal" in (found := rows())["builtin"]["reason"]
    assert found["builtin"]["status"] == "not configured"


def test_another_distribution_of_the_name_is_not_judged_by_our_program():
    other = EntryPoint(AGENTS, "claude-code", "mine", Distribution("my-claude", "1.0"))
    assert program_of(other) is None


def test_the_list_knows_the_programs_that_the_adapters_start():
    known = {each.found.name: program_of(each.found) for each in Plugins().list((AGENTS,))}
    assert known["claude-code"] == (ClaudeCodeOptions().command, INSTALL)
    assert known["hermes"] is not None
    assert known["hermes"][0] == HermesOptions().command
    assert hermes.INSTALL.startswith(known["hermes"][1])
    for agent in (CLAUDE_CODE, CODEX, GEMINI, GOOSE, OPENCODE, QWEN):
        entry = agent.entry
        assert known[entry.point] == (entry.argv[0], f"npm install -g {entry.package}")
