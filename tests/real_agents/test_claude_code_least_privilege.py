"""What the caller's environment holds is not for Claude Code, but for what its alias declares."""

import json
import os

import least_privilege
import pytest
from claude_code_peer import NEWER, OLDER, QUIET, tool

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel


@pytest.mark.parametrize("variable", [OLDER, NEWER])
def test_the_program_and_its_tools_see_only_what_the_alias_declares(variable, tmp_path):
    project = Project(tmp_path)
    (tmp_path / "user").mkdir()
    options = {"command": os.environ[variable], "allowedTools": ["Bash"]}
    agent = {"use": "claude-code", "options": options, "env": least_privilege.DECLARED}
    project.config(json.dumps({"agents": {"coder": agent}, "defaultAgent": "coder"}))
    del project.env["UWF_DEFAULT_AGENT"]
    least_privilege.prepare(project)
    turns = [tool("Bash", command=least_privilege.look(project)), {"text": least_privilege.DONE}]
    with ScriptedModel(turns, side_text="A title") as model:
        project.env |= {**QUIET, "ANTHROPIC_BASE_URL": model.anthropic_url}
        done = project.uwf("run", "./.workflow/look.yaml", "-p", "THE TASK", seconds=110)
    assert done.exit_code == 0, done.stderr
    least_privilege.check(project)
