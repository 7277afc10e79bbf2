"""`config set` checks before it writes, and `config get` and `show` never print a secret."""

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.disk import REPLACED, fill_disk, watched

from uwf_core.api.environment import is_secret_name
from uwf_core.config.change import change_list, set_value
from uwf_core.config.keys import key_text, parse_key
from uwf_core.config.secrets import secrets
from uwf_core.config.show import get_setting, settings_document, settings_rows
from uwf_core.errors import ConfigError

from .conftest import World


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("defaultAgent", "mock", "mock"),
        ("defaultAgent", "12", "12"),
        ("defaultAgent", "'12'", "12"),
        ("defaultAgent", "a #b: c", "a #b: c"),
        ("agents.fast.use", "mock", "mock"),
        ("agents.fast", "{use: mock, options: {a: [1]}}", {"use": "mock", "options": {"a": [1]}}),
        ('models."gpt-4.1".name', "gpt-4.1", "gpt-4.1"),
        ("limits.runSeconds", "60", 60),
        ("plugins.block", "[a, b]", ["a", "b"]),
        ("plugins.block", '["a"]', ["a"]),
        ("defaultAgent", "null", None),
    ],
)
def test_a_value_is_written_and_read_back(world: World, key: str, text: str, value: Any) -> None:
    world.config("# mine\nstore: memory:x # here\n")
    assert set_value(str(world.home), key, text) == value
    assert world.file.read_text().startswith("# mine\nstore: memory:x # here\n")
    assert get_setting(world.settings(), key) == value


def test_a_text_is_added_to_a_list_once_and_removed_again(world: World) -> None:
    world.config("# mine\nplugins: {block: [a, b]} # here\n")
    home = str(world.home)
    for _ in range(2):
        change_list(home, "plugins.block", "c", add=True)
        assert get_setting(world.settings(), "plugins.block") == ["a", "b", "c"]
    change_list(home, "plugins.block", "a", add=False)
    assert get_setting(world.settings(), "plugins.block") == ["b", "c"]
    assert world.file.read_text().startswith("# mine\n")


@pytest.mark.parametrize(
    ("key", "item", "add", "message"),
    [
        ("plugins.block", "c", False, "'c' is not in plugins.block"),
        ("defaultAgent", "mock", True, "defaultAgent is not a list of texts"),
        ("plugins.blok", "c", True, "plugins.blok"),
    ],
)
def test_a_list_that_cannot_be_changed_stays_as_it_was(
    world: World, key: str, item: str, add: bool, message: str
) -> None:
    world.config("plugins: {block: [a, b]}\n")
    with pytest.raises(ConfigError, match=message):
        change_list(str(world.home), key, item, add=add)
    assert world.file.read_text() == "plugins: {block: [a, b]}\n"


def test_the_first_setting_makes_a_private_file_in_a_private_folder(world: World) -> None:
    world.home.rmdir()
    set_value(str(world.home), "defaultAgent", "mock")
    assert stat.S_IMODE(world.home.stat().st_mode) == 0o700
    assert stat.S_IMODE(world.file.stat().st_mode) == 0o600
    assert world.file.read_text() == "defaultAgent: mock\n"


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("defaultAgnt", "x", "'defaultAgnt'"),
        ("limits.runSecond", "1", "'limits.runSecond'"),
        ("agents", "x", "agents must be a mapping"),
        ("agents.a.b", "x", "'agents.a.b'"),
        ("agents..use", "x", "'agents..use'"),
        ("store.x", "x", "'store.x'"),
        ("", "x", "''"),
        ("limits.runSeconds", "soon", "limits.runSeconds must be"),
        ("limits.runSeconds", "[", "a positive number of seconds, or a duration such as 30m"),
        ("workspace.record", "[", "invalid YAML"),
        ("store", "here.db", "store must be"),
        ("agents.a.args", "[x]", "`use` (an installed agent), `command`"),
        ("plugins.block", "mock", "plugins.block must be a list"),
    ],
)
def test_a_wrong_setting_is_refused_and_nothing_is_written(
    world: World, key: str, text: str, said: str
) -> None:
    world.config("store: memory:x\n")
    with pytest.raises(ConfigError) as caught:
        set_value(str(world.home), key, text)
    assert said in caught.value.message
    assert world.file.read_text() == "store: memory:x\n"


def test_a_refused_first_setting_leaves_no_file(world: World) -> None:
    with pytest.raises(ConfigError):
        set_value(str(world.home), "store", "wrong")
    assert not world.file.exists()


def test_setting_the_faulty_key_itself_repairs_a_file(world: World) -> None:
    world.config("store: 5\ndefaultAgent: mock\n")
    set_value(str(world.home), "store", "memory:x")
    assert world.settings().store == "memory:x"


def test_other_faults_of_the_file_are_reported_with_their_place(world: World) -> None:
    world.config("stroe: x\n")
    with pytest.raises(ConfigError) as caught:
        set_value(str(world.home), "defaultAgent", "mock")
    assert caught.value.where == f"{world.file}:1:1"
    assert world.file.read_text() == "stroe: x\n"


def test_two_settings_at_once_are_both_kept(world: World) -> None:
    code = (
        "import sys\nfrom uwf_core.config.change import set_value\n"
        "for n in range(5): set_value(sys.argv[1], f'agents.{sys.argv[2]}{n}.use', 'mock')"
    )
    command = [sys.executable, "-c", code, str(world.home)]
    children = [subprocess.Popen([*command, name]) for name in ("a", "b", "c")]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert len(world.settings().agents) == 15


@pytest.mark.parametrize(
    "path", [("a",), ("models", "gpt-4.1", "name"), ("a", "", "b"), ("a", "b c"), ("x.y",)]
)
def test_a_dotted_key_and_its_names_are_the_same(path: tuple[str, ...]) -> None:
    assert parse_key(key_text(path)) == path


SECRETS = """\
providers:
  a: {baseUrl: "https://me:hunter2@host/v1", apiKey: sk-config-key-1}
  b: {baseUrl: https://b, apiKeyEnv: STRANGE_NAME}
agents:
  x: {use: builtin, options: {authToken: tok-12345678, nested: [{password: pw-12345678}], n: 1}}
  y: {command: c, args: [--key, sk-config-key-1]}
store: postgresql://u:dbsecret99@host/db
"""
ENV = {"STRANGE_NAME": "value-of-strange", "GITHUB_TOKEN": "gh-token-123", "SSH_AUTH_SOCK": "/s"}


def test_every_known_secret_is_found(world: World) -> None:
    world.config(SECRETS)
    world.dotenv("MY_SECRET=from-dotenv-1\nPLAIN=nothing-of-note\n")
    assert secrets(world.settings(env=ENV)) == {
        "hunter2",
        "sk-config-key-1",
        "value-of-strange",
        "gh-token-123",
        "from-dotenv-1",
        "tok-12345678",
        "pw-12345678",
        "dbsecret99",
    }


def test_no_secret_is_shown(world: World) -> None:
    world.config(SECRETS)
    settings = world.settings(env=ENV)
    shown = f"{settings_document(settings)} {settings_rows(settings)}"
    shown += str(get_setting(settings, "providers.a.apiKey"))
    shown += str(get_setting(settings, "agents.x.options"))
    for secret in secrets(settings):
        assert secret not in shown
    assert get_setting(settings, "providers.a.apiKey") == "********"
    assert get_setting(settings, "agents.x.options")["n"] == 1


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("apiKey", True),
        ("github-token", True),
        ("GITHUBTOKEN", True),
        ("DB_PASSWORD", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("GOOGLE_APPLICATION_CREDENTIALS", True),
        ("PWD", False),
        ("OLDPWD", False),
        ("KEYBOARD", False),
        ("MONKEY", False),
        ("SSH_AUTH_SOCK", False),
        ("TOKEN_FILE", False),
        ("PATH", False),
        ("", False),
    ],
)
def test_secret_names_are_told_from_others(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_rows_name_the_layer_of_each_value(world: World) -> None:
    world.config("agents: {fast: {use: mock}}\n")
    rows = {row.key: row for row in settings_rows(world.settings(env={"UWF_STORE": "memory:x"}))}
    assert rows["agents.fast.use"]._asdict() == {
        "key": "agents.fast.use",
        "value": "mock",
        "origin": "user",
        "place": f"{world.file}:1",
    }
    assert (rows["store"].origin, rows["store"].place) == ("environment", "UWF_STORE")
    assert (rows["limits.runSeconds"].value, rows["limits.runSeconds"].origin) == (
        3600.0,
        "default",
    )


def test_what_nobody_set_is_null_and_what_cannot_be_is_an_error(world: World) -> None:
    world.config("agents: {fast: {use: mock}}\n")
    settings = world.settings()
    assert get_setting(settings, "defaultAgent") is None
    assert get_setting(settings, "agents.fast.command") is None
    assert get_setting(settings, "agents") == {"fast": {"use": "mock"}}
    with pytest.raises(ConfigError) as caught:
        get_setting(settings, "agents.fats.use")
    assert caught.value.hint == "did you mean 'fast'?"
    with pytest.raises(ConfigError) as caught:
        get_setting(settings, "agent")
    assert caught.value.hint == "did you mean 'agents'?"


def test_a_home_without_permission_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError):
        set_value(str(tmp_path / "file"), "defaultAgent", "mock")


def test_a_setting_survives_a_power_cut(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = watched(monkeypatch)
    set_value(str(world.home), "defaultAgent", "mock")
    assert asked[-3:] == REPLACED


def test_a_full_disk_changes_no_setting_and_leaves_no_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_value(str(world.home), "defaultAgent", "mock")
    before = {each.name: each.read_bytes() for each in world.home.iterdir()}
    fill_disk(monkeypatch)
    with pytest.raises(ConfigError, match="No space left"):
        set_value(str(world.home), "defaultAgent", "builtin")
    assert {each.name: each.read_bytes() for each in world.home.iterdir()} == before
