"""What a role changes in Hermes: the layer of configuration and the plugin of one call."""

import json

import pytest

from uwf_agent_hermes.overlay import MEMORY, READING, Overlay
from uwf_core.api import Unavailable


@pytest.fixture
def places(tmp_path):
    """A home with a server and a plugin, an administrator's layer, a project with a plugin."""
    for name in ("home", "above", "work/.hermes/plugins/theirs", "folder"):
        (tmp_path / name).mkdir(parents=True)
    home, above = tmp_path / "home", tmp_path / "above"
    (home / "config.yaml").write_text(
        "plugins: {enabled: [mine]}\nmemory: {memory_enabled: true}\n"
        "mcp_servers: {mail: {url: x}}\n"
    )
    (above / "config.yaml").write_text("model: {default: pinned}\nmemory: {provider: theirs}\n")
    (above / ".env").write_text("PINNED=1\n")
    return tmp_path


def overlay(places, desk, *, env=None, only=None, trusted=False):
    """The overlay and its two files."""
    call = desk.request(cwd=str(places / "work"), trusted=trusted)
    given = {"HERMES_MANAGED_DIR": str(places / "above"), **(env or {})}
    made = Overlay(places / "folder", places / "home", given, call, only)
    managed = places / "folder" / "managed"
    return made, json.loads((managed / "config.yaml").read_text()), (managed / ".env").read_text()


def plugins(places):
    return sorted(each.name for each in (places / "folder" / ".hermes" / "plugins").iterdir())


def test_the_memory_is_off_and_the_layers_of_the_user_and_an_administrator_stay(places, desk):
    _, layer, env = overlay(places, desk)
    assert layer["memory"]["memory_enabled"] is layer["memory"]["user_profile_enabled"] is False
    assert layer["memory"]["provider"] == ""
    assert layer["model"] == {"default": "pinned"}
    assert layer["plugins"]["enabled"] == ["mine", "uwf-role"]
    assert "mcp_servers" not in layer
    assert "PINNED=1" in env


def test_a_question_has_no_server(places, desk):
    made, layer, _ = overlay(places, desk, only=READING)
    assert layer["mcp_servers"] == {"mail": {"enabled": False}}
    assert not made.is_in_force


@pytest.mark.parametrize("word", ["1", "true", '"yes"'])
@pytest.mark.parametrize("trusted", [True, False])
def test_plugins_of_a_project_need_the_users_trust(places, desk, trusted, word):
    (places / "home" / ".env").write_text(f"export HERMES_ENABLE_PROJECT_PLUGINS={word}\n")
    overlay(places, desk, trusted=trusted)
    assert plugins(places) == (["theirs", "uwf-role"] if trusted else ["uwf-role"])


def test_plugins_of_a_project_need_the_users_leave(places, desk):
    overlay(places, desk, trusted=True, env={"HERMES_ENABLE_PROJECT_PLUGINS": "0"})
    assert plugins(places) == ["uwf-role"]


@pytest.mark.parametrize("text", ["[", "- a\n", "plugins: 3\nmcp_servers: []\n", "\x00"])
def test_a_wrong_configuration_is_left_to_hermes(places, desk, text):
    (places / "home" / "config.yaml").write_text(text)
    _, layer, _ = overlay(places, desk, only=READING)
    assert layer["plugins"]["enabled"] == ["uwf-role"]


def test_the_plugin_takes_the_tools_away(places, desk, monkeypatch):
    """Loaded as Hermes does it, with a module of Hermes' name."""
    import importlib.util
    import sys
    from types import ModuleType, SimpleNamespace

    made, _, _ = overlay(places, desk, only=READING)
    hermes, hooks = ModuleType("toolsets"), {}
    hermes.TOOLSETS = {"hermes-acp": {"tools": ["terminal", *READING, *MEMORY]}, "empty": {}}
    monkeypatch.setitem(sys.modules, "toolsets", hermes)
    monkeypatch.chdir(places)
    file = places / "folder" / ".hermes" / "plugins" / "uwf-role" / "__init__.py"
    spec = importlib.util.spec_from_file_location("of_a_role", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register(SimpleNamespace(register_hook=hooks.__setitem__))
    assert hermes.TOOLSETS["hermes-acp"]["tools"] == list(READING)
    block = hooks["pre_tool_call"]
    assert block(tool_name="mcp_mail_send")["action"] == "block"
    assert block(tool_name="read_file") is None
    assert made.is_in_force


def test_without_the_plugin_no_prompt_is_sent(desk):
    agent = desk.played("say", "--without-plugin")
    with pytest.raises(Unavailable, match="did not load the plugin"):
        agent.run(desk.request(), desk.sink)
