"""`setup` writes what it is told and keeps everything else."""

import stat

import pytest
from tests.disk import REPLACED, fill_disk, watched

from uwf_core.config.models import resolve_model
from uwf_core.config.providers import PRESETS
from uwf_core.config.setup import SetupValues, setup_values
from uwf_core.errors import ConfigError

from .conftest import World


def test_one_call_makes_a_model_usable(world: World) -> None:
    done = setup_values(
        str(world.home), world.env, SetupValues("openai", api_key="sk-test-123", model="gpt-5")
    )
    assert (done.model, done.agent, done.key_variable) == ("gpt-5", "builtin", "OPENAI_API_KEY")
    assert done.notices == ()
    settings = world.settings()
    model = resolve_model(settings, settings.default_model or "")
    assert (model.name, model.base_url) == ("gpt-5", "https://api.openai.com/v1")
    assert model.api_key == "sk-test-123"
    assert settings.default_agent == "builtin"


def test_the_key_goes_to_dotenv_and_both_files_are_private(world: World) -> None:
    world.dotenv("# mine\nOTHER=1\n")
    setup_values(str(world.home), world.env, SetupValues("xai", api_key="sk 'odd' \"key\" $1"))
    assert "sk" not in world.file.read_text()
    assert (world.home / ".env").read_text().startswith("# mine\nOTHER=1\n")
    assert world.settings().environment["XAI_API_KEY"] == "sk 'odd' \"key\" $1"
    for file in (world.file, world.home / ".env"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_everything_else_in_the_file_is_kept(world: World) -> None:
    text = (
        "# mine\nproviders:\n  openai: # work\n    baseUrl: https://proxy/v1\n"
        "defaultAgent: human # me\n\n# end\n"
    )
    world.config(text)
    setup_values(str(world.home), world.env, SetupValues("openai", model="gpt-5"))
    changed = world.file.read_text()
    for line in text.splitlines():
        assert line in changed
    settings = world.settings()
    assert settings.providers["openai"].base_url == "https://proxy/v1"
    assert settings.default_agent == "human"


def test_a_second_call_replaces_the_key(world: World) -> None:
    for key in ("sk-first-1", "sk-second-2"):
        setup_values(str(world.home), world.env, SetupValues("openai", api_key=key))
    assert world.settings().environment["OPENAI_API_KEY"] == "sk-second-2"
    assert "first" not in (world.home / ".env").read_text()


def test_a_key_that_stood_in_the_configuration_is_replaced_by_the_new_one(world: World) -> None:
    world.config("providers: {openai: {baseUrl: https://x, apiKey: sk-old}}\n")
    setup_values(str(world.home), world.env, SetupValues("openai", api_key="sk-new-1", model="m"))
    assert "sk-old" not in world.file.read_text()
    assert resolve_model(world.settings(), "m").api_key == "sk-new-1"


def test_another_service_needs_its_address(world: World) -> None:
    with pytest.raises(ConfigError) as caught:
        setup_values(str(world.home), world.env, SetupValues("my-llm", api_key="k"))
    assert caught.value.where == "--base-url"
    assert not world.file.exists()
    assert not (world.home / ".env").exists()
    done = setup_values(
        str(world.home), world.env, SetupValues("my-llm", "http://localhost:1/v1", "k", "m")
    )
    assert done.key_variable == "MY_LLM_API_KEY"
    assert resolve_model(world.settings(), "m").api_key == "k"


def test_a_wrong_address_writes_nothing(world: World) -> None:
    with pytest.raises(ConfigError):
        setup_values(str(world.home), world.env, SetupValues("openai", "localhost", "sk-1"))
    assert not world.file.exists()
    assert not (world.home / ".env").exists()


def test_two_providers_may_have_a_model_of_the_same_name(world: World) -> None:
    setup_values(str(world.home), world.env, SetupValues("openai", model="m"))
    done = setup_values(str(world.home), world.env, SetupValues("openrouter", model="m"))
    assert done.model == "openrouter/m"
    settings = world.settings()
    assert settings.default_model == "openrouter/m"
    assert resolve_model(settings, "m").provider == "openai"
    assert resolve_model(settings, "openrouter/m").provider == "openrouter"


def test_another_key_in_the_environment_is_told(world: World) -> None:
    env = {**world.env, "OPENAI_API_KEY": "sk-other"}
    (notice,) = setup_values(str(world.home), env, SetupValues("openai", api_key="sk-1")).notices
    assert "OPENAI_API_KEY" in notice
    assert "sk-" not in notice


def test_a_missing_key_is_told(world: World) -> None:
    (notice,) = setup_values(str(world.home), world.env, SetupValues("kimi", model="k2")).notices
    assert "MOONSHOT_API_KEY" in notice


def test_ollama_needs_no_key(world: World) -> None:
    done = setup_values(str(world.home), world.env, SetupValues("ollama", model="llama3"))
    assert (done.key_variable, done.notices) == (None, ())
    assert resolve_model(world.settings(), "llama3").api_key is None


def test_all_promised_services_are_known() -> None:
    names = ("openai", "openrouter", "xai", "venice", "dashscope", "deepseek", "siliconflow")
    names += ("anthropic", "gemini", "openai-responses")
    assert set(PRESETS) == {*names, "volcengine", "kimi", "glm", "stepfun", "minimax", "ollama"}
    for preset in PRESETS.values():
        assert preset.base_url.startswith(("https://", "http://localhost"))
        assert not preset.base_url.endswith("/")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "unknown model 'm'"),
        ("models: {m: {provider: p}}", "models.m has no name"),
        ("models: {m: {name: x}}", "models.m has no provider"),
        ("models: {m: {name: x, provider: p}}", "unknown provider 'p' of the model"),
        (
            "models: {m: {name: x, provider: p}}\nproviders: {p: {apiKeyEnv: K}}",
            "providers.p has no baseUrl",
        ),
    ],
)
def test_a_model_that_is_not_complete_says_what_is_missing(
    world: World, text: str, said: str
) -> None:
    world.config(text)
    with pytest.raises(ConfigError) as caught:
        resolve_model(world.settings(), "m")
    assert said in caught.value.message


def test_a_model_has_its_price(world: World) -> None:
    world.config(
        "models: {m: {name: x, provider: p, price: {input: 1, cacheRead: 0.5}}}\n"
        "providers: {p: {baseUrl: http://x}}\n"
    )
    price = resolve_model(world.settings(), "m").price
    assert price is not None
    assert (price.input, price.output, price.cache_read) == (1, None, 0.5)


def test_a_key_and_then_the_settings_that_name_it_survive_a_power_cut(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = watched(monkeypatch)
    setup_values(str(world.home), world.env, SetupValues("openai", api_key="sk-test-123"))
    assert [each for each in asked if each != "sync the folder"] == 2 * REPLACED[:2]
    assert asked[-3:] == REPLACED


def test_a_full_disk_keeps_the_old_key_and_leaves_no_part_of_the_new_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup_values(str(world.home), world.env, SetupValues("openai", api_key="sk-first-1"))
    before = {each.name: each.read_bytes() for each in world.home.iterdir()}
    fill_disk(monkeypatch)
    with pytest.raises(ConfigError, match="No space left"):
        setup_values(str(world.home), world.env, SetupValues("openai", api_key="sk-second-2"))
    assert {each.name: each.read_bytes() for each in world.home.iterdir()} == before


@pytest.mark.parametrize(
    "key", ["a #b", "'a'", '"', "#a", "a'b", "a\\nb", "$HOME", "sk-ä", "=", "a=b", "`id`", "a\tb"]
)
def test_every_key_is_read_back_as_it_was_given_and_the_next_line_is_another(
    world: World, key: str
) -> None:
    setup_values(str(world.home), world.env, SetupValues("openai", api_key=key))
    setup_values(str(world.home), world.env, SetupValues("xai", api_key="sk-other-1"))
    found = world.settings().environment
    assert (found["OPENAI_API_KEY"], found["XAI_API_KEY"]) == (key, "sk-other-1")
