"""The command agent of the guide, with the real programs. `codex` is not in each run, which has
codex-acp: `UWF_REAL_MORE=1 nox -s real_agents` installs it.
"""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from acp_world import PROGRAMS, AcpWorld
from test_acp_programs import WORKFLOW, said
from tests.step_parts import session_of

from uwf_core.testing.project import Project

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "agents.md"
VARIABLES = {
    "opencode": "UWF_REAL_OPENCODE",
    "gemini": "UWF_REAL_GEMINI",
    "codex": "UWF_REAL_CODEX",
}


@pytest.mark.parametrize("program", list(VARIABLES))
def test_a_role_continues_its_session_by_the_command_line_of_a_program(program, tmp_path):
    if VARIABLES[program] not in os.environ:
        pytest.skip(f"{VARIABLES[program]} names no program")
    world = AcpWorld(tmp_path / program, PROGRAMS[program])
    try:
        project = project_of(world, program, tmp_path)
        usage = {"usage": {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 30}}
        world.plan("FIRST do", {**usage, "text": said("again")})
        world.plan("SECOND do", {**usage, "text": said("done")})
        untrusted = project.uwf("run", "./.workflow/loop.yaml", "-p", "the task", seconds=200)
        assert "you do not trust" in untrusted.stderr and world.model.requests == []
        assert project.uwf("config", "trust").exit_code == 0
        outcome = project.uwf("run", "./.workflow/loop.yaml", "-p", "the task", seconds=200)
        assert outcome.exit_code == 0, outcome
        steps = [
            project.uwf("step", "show", each["step"]).document for each in outcome.document["steps"]
        ]
    finally:
        world.close()
    assert [session_of(step)["continuation"] for step in steps] == ["new", "continued"]
    names = ("inputTokens", "outputTokens", "cacheReadTokens")
    assert [[step["usage"][name] for name in names] for step in steps] == [[100, 7, 30]] * 2
    assert "FIRST do" in json.dumps(world.heard("SECOND do")[0].messages)


def project_of(world, program, tmp_path):
    """A project whose agent is the script of the page; the program stands on the PATH."""
    (script,) = re.findall(r'```python title="cli_agent.py"\n(.*?)```', PAGE.read_text(), re.DOTALL)
    (tmp_path / "cli_agent.py").write_text(script)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / program).symlink_to(os.environ[VARIABLES[program]])
    project = Project(world.root / "uwf")
    del project.env["UWF_DEFAULT_AGENT"]
    project.env.update(world.env, PATH=os.pathsep.join((str(programs), world.env["PATH"])))
    project.workflow("loop", WORKFLOW)
    names = [name for name in world.env if name not in ("PATH", "HOME", "TMPDIR", "LANG")]
    agent = {
        "command": sys.executable,
        "args": [str(tmp_path / "cli_agent.py"), program],
        "capabilities": ["continue"],
        "env": names,
    }
    project.config(json.dumps({"agents": {"it": agent}, "defaultAgent": "it"}))
    return project
