"""What the caller's environment holds is not for Hermes, but for what its alias declares."""

import json
import os

import least_privilege
import pytest
from hermes_world import World, tool

from uwf_core.testing.project import Project

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine


def test_the_program_and_its_tools_see_only_what_the_alias_declares(tmp_path):
    world = World(tmp_path, os.environ["UWF_REAL_HERMES"])
    project = Project(tmp_path / "uwf")
    options = {"command": world.program, "home": str(world.home)}
    agent = {"use": "hermes", "options": options, "env": least_privilege.DECLARED}
    project.config(json.dumps({"agents": {"worker": agent}, "defaultAgent": "worker"}))
    del project.env["UWF_DEFAULT_AGENT"]
    project.env |= world.env
    least_privilege.prepare(project)
    look = {"toolCalls": [tool("terminal", command=least_privilege.look(project))]}
    world.plan("LOOK around.", look, least_privilege.DONE)
    done = project.uwf("run", "./.workflow/look.yaml", "-p", "THE TASK", seconds=200)
    world.close()
    assert done.exit_code == 0, done.stderr
    least_privilege.check(project)
