"""Settings come by layers: flag, environment, project, user, default; each knows its origin."""

import json
import subprocess
import sys

import pytest

from uwf_core.config.keys import (
    ENVIRONMENT,
    AgentSetting,
    CallLimits,
    Config,
    ModelPrice,
    ModelSetting,
    Provider,
    shape_at,
)
from uwf_core.config.models import resolve_model
from uwf_core.config.settings import Origin
from uwf_core.errors import ConfigError
from uwf_core.fields.records import camel

from .conftest import World

EVERYTHING = """\
providers:
  openai: {baseUrl: https://api.openai.com/v1, apiKeyEnv: OPENAI_API_KEY}
  mine: {baseUrl: "http://localhost:8000", apiKey: sk-secret-123}
models:
  big:
    provider: openai
    name: gpt-5
    price: {input: 1.25, output: 10, cacheRead: 0.125}
    extra: {reasoning_effort: high, provider: {order: [a, b]}}
agents:
  fast: {use: mock, options: {script: play.yaml, deep: {list: [1, 2]}}}
  shell: {command: my-agent, args: [--quick, ""], capabilities: [continue, ask]}
defaultAgent: fast
agentOverrides:
  fix-bug: {reviewer: shell}
defaultModel: big
modelOverrides: {extract: big, judge: big}
store: sqlite:other.db
workflowPaths: [flows, ~/more, /srv/flows]
plugins: {block: [hermes]}
extractors: [frontmatter, llm]
limits: {runSeconds: 60, idleSeconds: 1.5, graceSeconds: 2, replyBytes: 1000}
"""


def test_nothing_is_needed(world: World) -> None:
    settings = world.settings()
    assert settings.store == "sqlite:store.db"
    assert settings.extractors == ("frontmatter",)
    assert settings.limits == CallLimits(3600.0, 900.0, 5.0, 16 * 1024 * 1024)
    assert settings.default_agent is None
    assert tuple(settings.blocked) == ()
    assert settings.notices == ()
    assert settings.project is None


def test_every_key_is_read(world: World) -> None:
    world.config(EVERYTHING)
    settings = world.settings()
    assert settings.providers["openai"] == Provider(
        "https://api.openai.com/v1", None, "OPENAI_API_KEY"
    )
    assert settings.providers["mine"].api_key == "sk-secret-123"
    assert settings.models["big"] == ModelSetting(
        "openai",
        "gpt-5",
        ModelPrice(1.25, 10, 0.125),
        {"reasoning_effort": "high", "provider": {"order": ["a", "b"]}},
    )
    assert settings.agents["fast"] == AgentSetting(
        use="mock", options={"script": "play.yaml", "deep": {"list": [1, 2]}}
    )
    assert settings.agents["shell"] == AgentSetting(
        command="my-agent", args=("--quick", ""), capabilities=frozenset({"continue", "ask"})
    )
    assert settings.default_agent == "fast"
    assert settings.agent_overrides == {"fix-bug": {"reviewer": "shell"}}
    assert settings.default_model == "big"
    assert settings.model_overrides == {"extract": "big", "judge": "big"}
    assert settings.store == "sqlite:other.db"
    assert settings.workflow_paths == (
        str(world.home / "flows"), str(world.user / "more"), "/srv/flows"
    )  # fmt: skip
    assert tuple(settings.blocked) == ("hermes",)
    assert settings.extractors == ("frontmatter", "llm")
    assert settings.limits == CallLimits(60, 1.5, 2, 1000)


def test_the_stronger_layer_wins_and_is_named(world: World) -> None:
    world.config("defaultAgent: user\ndefaultModel: user\nstore: sqlite:user.db\n")
    file = world.project_config("defaultAgent: project\ndefaultModel: project\n")
    settings = world.settings(
        env={"UWF_DEFAULT_MODEL": "env", "UWF_STORE": "memory:env"}, flags={"store": "memory:flag"}
    )
    assert settings.default_agent == "project"
    assert settings.origin(("defaultAgent",)) == Origin("project", f"{file}:1")
    assert settings.default_model == "env"
    assert settings.origin(("defaultModel",)) == Origin("environment", "UWF_DEFAULT_MODEL")
    assert settings.store == "memory:flag"
    assert settings.origin(("store",)).layer == "flag"
    assert settings.origin(("extractors",)) == Origin("default", None)


def test_mappings_of_two_layers_are_merged_entry_by_entry(world: World) -> None:
    world.config(
        "agentOverrides: {a: {x: one, y: two}, b: {x: three}}\n"
        "limits: {runSeconds: 1, graceSeconds: 2}\n"
    )
    world.project_config("agentOverrides: {a: {x: mine}}\nlimits: {runSeconds: 9}\n")
    settings = world.settings()
    assert settings.agent_overrides == {"a": {"x": "mine", "y": "two"}, "b": {"x": "three"}}
    assert settings.limits[:3] == (9, 900.0, 2)
    assert settings.origin(("limits", "runSeconds")).layer == "project"
    assert settings.origin(("limits", "graceSeconds")).layer == "user"
    assert settings.origin(("agentOverrides", "a", "y")).layer == "user"


def test_a_key_without_a_value_says_nothing(world: World) -> None:
    world.config("defaultAgent: user\n")
    world.project_config("defaultAgent:\nlimits: {runSeconds: null}\n")
    assert world.settings().default_agent == "user"


def test_blocks_of_all_layers_add_up(world: World) -> None:
    """A block in the configuration is not undone by blocking something else for one call."""
    world.config("plugins: {block: [hermes]}\n")
    settings = world.settings(env={"UWF_BLOCK_PLUGINS": "mock, uwf-eval,,hermes"})
    assert tuple(settings.blocked) == ("hermes", "mock", "uwf-eval")


def test_an_empty_variable_says_nothing(world: World) -> None:
    world.config("defaultAgent: user\n")
    assert world.settings(env={"UWF_DEFAULT_AGENT": ""}).default_agent == "user"


def test_every_scalar_at_the_top_has_its_variable() -> None:
    keys = map(camel, Config._fields)
    scalars = {key for key in keys if (shape := shape_at((key,))) and shape.is_text}
    assert set(ENVIRONMENT.values()) == scalars
    assert ENVIRONMENT["UWF_DEFAULT_AGENT"] == "defaultAgent"


def test_a_wrong_variable_is_named(world: World) -> None:
    with pytest.raises(ConfigError) as caught:
        world.settings(env={"UWF_STORE": "store.db"})
    assert caught.value.where == "UWF_STORE"
    assert "'store.db'" in caught.value.message


def test_a_relative_command_is_meant_from_the_file_that_names_it(world: World) -> None:
    """From the folder that uwf happens to run in, a cloned repository could supply the program."""
    world.config(
        "agents: {a: {command: bin/agent}, b: {command: ~/agent}, c: {command: agent},"
        " d: {command: /bin/agent}}\n"
    )
    commands = {name: each.command for name, each in world.settings().agents.items()}
    assert commands == {
        "a": str(world.home / "bin/agent"),
        "b": str(world.user / "agent"),
        "c": "agent",
        "d": "/bin/agent",
    }


def test_dotenv_is_read_and_never_overrides_the_environment(world: World) -> None:
    world.dotenv("OPENAI_API_KEY=from-file\nOTHER=from-file\nUWF_DEFAULT_AGENT=mock\n")
    settings = world.settings(env={"OPENAI_API_KEY": "from-env"})
    assert settings.environment["OPENAI_API_KEY"] == "from-env"
    assert settings.environment["OTHER"] == "from-file"
    assert settings.default_agent == "mock"


def test_dotenv_cannot_move_the_home(world: World) -> None:
    world.dotenv("UWF_HOME=/elsewhere\n")
    assert "UWF_HOME" not in world.settings().environment


def test_files_with_secrets_that_others_can_read_are_noticed(world: World) -> None:
    world.config(
        "defaultAgent: mock\n"
        "providers: {other: {baseUrl: http://y}, mine: {baseUrl: http://x, apiKey: sk-secret}}\n"
    )
    world.dotenv("A=b\n")
    assert world.settings().notices == ()
    world.file.chmod(0o644)
    (world.home / ".env").chmod(0o640)
    notices = world.settings().notices
    assert [str(each).endswith(f"chmod 600 {file}") for each, file in zip(
        notices, (world.home / ".env", world.file), strict=True
    )] == [True, True]  # fmt: skip


def test_a_secret_is_not_in_the_text_of_settings(world: World) -> None:
    world.config(EVERYTHING)
    settings = world.settings(env={"OPENAI_API_KEY": "sk-environment"})
    text = f"{settings!r} {settings.providers!r} {resolve_model(settings, 'big')!r}"
    assert "sk-" not in text


@pytest.mark.parametrize("make_unreadable", ["folder", "bytes"])
def test_a_file_that_cannot_be_read_is_named(world: World, make_unreadable: str) -> None:
    if make_unreadable == "folder":
        world.file.mkdir()
    else:
        world.file.write_bytes(b"defaultAgent: \xff\n")
    with pytest.raises(ConfigError) as caught:
        world.settings()
    assert str(world.file) in (caught.value.where or "")
    assert caught.value.exit_code == 2


def run_python(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules: list[str] = json.loads(done.stdout)
    return modules


CODE = (
    "import json, sys\nfrom uwf_core.config.settings import load_settings\n"
    "load_settings({home!r}, '/', {{}})\nprint(json.dumps(sorted(sys.modules)))"
)
HEAVY = {"pydantic", "jsonschema", "pluggy", "importlib.metadata", "asyncio", "difflib", "pathlib"}


def test_without_a_file_no_yaml_is_imported(world: World) -> None:
    modules = run_python(CODE.format(home=str(world.home)))
    assert HEAVY.isdisjoint(modules)
    assert not [each for each in modules if "yaml" in each]


def test_showing_a_setting_imports_no_records_of_agents(world: World) -> None:
    code = CODE.replace(
        "load_settings({home!r}, '/', {{}})",
        (
            "from uwf_core.config.show import get_setting\n"
            "get_setting(load_settings({home!r}, '/', {{}}), 'store')"
        ),
    )
    world.config(EVERYTHING)
    modules = run_python(code.format(home=str(world.home)))
    assert HEAVY.isdisjoint(modules)
    assert "uwf_core.api.agent" not in modules


def test_with_a_file_nothing_heavy_is_imported(world: World) -> None:
    world.config(EVERYTHING)
    assert HEAVY.isdisjoint(run_python(CODE.format(home=str(world.home))))
