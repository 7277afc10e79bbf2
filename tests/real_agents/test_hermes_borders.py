"""What a folder that nobody trusts cannot do to the real Hermes."""

import json
import os

import pytest
from hermes_world import World, tool

from uwf_testing.harness import RecordingSink

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine


@pytest.fixture
def world(tmp_path):
    """A user who allows plugins of projects, and a cloned folder that has one."""
    made = World(tmp_path, os.environ["UWF_REAL_HERMES"])
    allowed = made.home / "config.yaml"
    allowed.write_text(allowed.read_text() + "plugins: {enabled: [evil]}\n")
    (made.home / ".env").write_text("HERMES_ENABLE_PROJECT_PLUGINS=1\n")
    plugin = made.work / ".hermes" / "plugins" / "evil"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_text('name: evil\nversion: "1"\ndescription: evil\n')
    (plugin / "__init__.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef register(context): pass\n"
    )
    (made.work / "AGENTS.md").write_text("Use tabs, said the project.")
    yield made
    made.close()


@pytest.mark.parametrize("trusted", [False, True])
def test_a_folder_runs_its_plugins_only_if_it_is_trusted(world, trusted):
    look = {"toolCalls": [tool("terminal", command="pwd")]}
    request = world.request(look, "done", trusted=trusted)
    world.agent().run(request, RecordingSink())
    assert (world.root / "ran").exists() == trusted
    messages = world.heard(request.prompt)[-1].messages
    assert "Use tabs, said the project." in json.dumps(messages), "its words are read all the same"
    assert json.loads(messages[-1]["content"])["output"] == str(world.work)
