"""What a role on the real Hermes knows and may do: no memory of others; a question only reads."""

import json
import os

import pytest
from hermes_world import World, tool

from uwf_agent_hermes.overlay import MEMORY, READING
from uwf_testing.harness import RecordingSink

pytestmark = pytest.mark.timeout(300)  # a start takes seconds, and more on a busy machine

NOTE = "NOTED BY ANOTHER ROLE"
SEARCH = tool("session_search", query="PASSWORD")
SKILL = {
    "name": "skill_manage",
    "arguments": {"action": "create", "name": "evil", "content": "---\nname: evil\n---\nx"},
}


@pytest.fixture
def world(tmp_path):
    """A user with notes of an earlier role, and a server of tools."""
    made = World(tmp_path, os.environ["UWF_REAL_HERMES"])
    memories = made.home / "memories"
    memories.mkdir()
    (memories / "MEMORY.md").write_text(f"{NOTE}\n")
    (memories / "USER.md").write_text(f"{NOTE}\n")
    yield made
    made.close()


def calls(*uses):
    return {"toolCalls": list(uses)}


@pytest.mark.parametrize("trusted", [False, True])
def test_a_role_has_no_memory_of_other_roles(world, trusted):
    agent = world.agent()
    agent.run(world.request("The PASSWORD is mellon."), RecordingSink())
    note = tool("memory", action="add", target="memory", content="it was here")
    request = world.request(calls(SEARCH, note, SKILL), "done", trusted=trusted)
    agent.run(request, RecordingSink())
    first, last = world.heard(request.prompt)[0], world.heard(request.prompt)[-1]
    assert not set(MEMORY) & set(first.tool_names)
    assert "terminal" in first.tool_names, "its other tools are there"
    assert NOTE not in json.dumps(first.body)
    assert "mellon" not in json.dumps(last.messages)
    assert (world.home / "memories" / "MEMORY.md").read_text() == f"{NOTE}\n"
    assert not list(world.home.rglob("evil")), "no skill was written"


def test_a_role_has_the_memory_that_its_option_allows(world):
    request = world.request("done")
    world.agent(memory=True).run(request, RecordingSink())
    (heard,) = world.heard(request.prompt)
    assert set(MEMORY) <= set(heard.tool_names)
    assert NOTE in json.dumps(heard.body)


@pytest.mark.parametrize("memory", [False, True])
def test_a_question_runs_no_shell_and_writes_no_file(world, memory):
    """The session has used the shell before, and the model tries it again."""
    agent = world.agent(memory=memory, permission="allow", mode="dont_ask")
    shell = tool("terminal", command="touch ran")
    reply = agent.run(world.request(calls(shell), "done"), RecordingSink())
    assert (world.work / "ran").exists()
    (world.work / "ran").unlink()
    write = tool("write_file", path="ran", content="x")
    code = tool("execute_code", code="open('ran', 'w')")
    acts = [calls(each) for each in (shell, write, code, SKILL)]
    forked = agent.fork(reply.session, world.request("never sent"))
    question = world.question("Why so?", *acts, "Because.", session=forked)
    answer = agent.ask(question, RecordingSink())
    assert answer.text == "Because."
    assert not (world.work / "ran").exists()
    assert not list(world.home.rglob("evil"))
    for request in world.heard("Why so?"):
        assert set(request.tool_names) <= set(READING)


def test_the_users_own_plugins_and_configuration_stay_in_use(world):
    file = world.home / "config.yaml"
    file.write_text(file.read_text() + "plugins: {enabled: [mine]}\n")
    plugin = world.home / "plugins" / "mine"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_text('name: mine\nversion: "1"\ndescription: mine\n')
    ran = world.root / "ran"
    (plugin / "__init__.py").write_text(f"def register(context): open({str(ran)!r}, 'w')\n")
    before = file.read_bytes()
    assert world.agent().run(world.request("done"), RecordingSink()).text == "done"
    assert ran.exists()
    assert file.read_bytes() == before, "nothing is written into its home"
