"""`setup` without a wizard: write provider, key, model and agent to the user's files.

The key goes to `$UWF_HOME/.env`, and config.yaml names its variable (`apiKeyEnv`): so config.yaml
holds no secret and can be shown, copied and kept under version control.
"""

# ruff: noqa: PTH118 (one way to write paths in this room)

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from uwf_core.config.change import Change, apply_changes, config_path
from uwf_core.config.dotenv import decode_dotenv, parse_dotenv, with_variable
from uwf_core.config.home import ENV_FILE, read_private, write_private
from uwf_core.config.keys import DEFAULT_PROTOCOL, Leaf, Path
from uwf_core.config.providers import PRESETS
from uwf_core.config.settings import read_settings
from uwf_core.errors import ConfigError

DEFAULT_AGENT = "builtin"
"""The agent that works with any provider; the default if the user chose none."""


class SetupValues(NamedTuple):
    """The user's values; None: not given."""

    provider: str
    base_url: str | None = None
    api_key: str | None = None
    model: str | None = None
    agent: str | None = None
    protocol: str | None = None


class SetupDone(NamedTuple):
    """The values written: the model's alias and the default agent (None: unchanged), the
    variable of the key, and notices for the user.
    """

    model: str | None
    agent: str | None
    key_variable: str | None
    notices: tuple[str, ...]


def setup_values(home: str, env: Mapping[str, str], values: SetupValues) -> SetupDone:
    """Write a provider, its key, a model and the default agent; keep everything else.

    Raises:
        ConfigError: an unknown provider without an address, or an invalid value or file:
            then nothing was written.
    """
    old = _user_leaves(home)
    variable = _key_variable(values, old)
    alias = _alias(values, old)
    agent = values.agent
    if agent is None and alias is not None and ("defaultAgent",) not in old:
        agent = DEFAULT_AGENT
    changes = _provider_changes(values, variable, old)
    if alias is not None:
        changes.append(Change(("models", alias, "provider"), values.provider))
        changes.append(Change(("models", alias, "name"), values.model))
        changes.append(Change(("defaultModel",), alias))
    if agent is not None:
        changes.append(Change(("defaultAgent",), agent))
    file = os.path.join(home, ENV_FILE)
    before = decode_dotenv(read_private(file) or b"", file)
    kept = parse_dotenv(before, file)
    apply_changes(home, changes)
    if variable is not None and values.api_key is not None:
        write_private(file, with_variable(before, variable, values.api_key))
        kept[variable] = values.api_key
    return SetupDone(alias, agent, variable, _notices(env, variable, kept))


def setup_agent(home: str, agent: str) -> SetupDone:
    """Write the default agent alone: it brings its own model, or there is one already.

    Raises:
        ConfigError: an invalid file; then nothing was written.
    """
    apply_changes(home, [Change(("defaultAgent",), agent)])
    return SetupDone(None, agent, None, ())


def _user_leaves(home: str) -> dict[Path, Leaf]:
    file = config_path(home)
    data = read_private(file)
    return {} if data is None else read_settings(data, file)


def _entry(old: Mapping[Path, Leaf], *path: str) -> dict[str, Any]:
    leaf = old.get(path)
    return {} if leaf is None else dict(leaf.value)


def _key_variable(values: SetupValues, old: Mapping[Path, Leaf]) -> str | None:
    """The variable for the provider's key: its current one, the usual one, or one from its name;
    None if no key is needed and none is given, or config.yaml holds it.
    """
    entry = _entry(old, "providers", values.provider)
    if "apiKeyEnv" in entry:
        return str(entry["apiKeyEnv"])
    if values.api_key is None and "apiKey" in entry:
        return None
    preset = PRESETS.get(values.provider)
    if preset is not None and (preset.key_variable is not None or values.api_key is None):
        return preset.key_variable
    words = "".join(letter if letter.isalnum() else "_" for letter in values.provider.upper())
    return f"{words}_API_KEY" if words.isascii() and words[:1].isalpha() else "UWF_API_KEY"


def _provider_changes(
    values: SetupValues, variable: str | None, old: Mapping[Path, Leaf]
) -> list[Change]:
    path = ("providers", values.provider)
    entry = _entry(old, *path)
    base_url = values.base_url or entry.get("baseUrl")
    if base_url is None:
        base_url = _known_address(values.provider)
    protocol = values.protocol or entry.get("protocol") or usual_protocol(values.provider)
    new = {"baseUrl": base_url, **({} if variable is None else {"apiKeyEnv": variable})}
    if protocol != DEFAULT_PROTOCOL or "protocol" in entry:
        new["protocol"] = protocol
    if variable is not None and "apiKey" in entry:  # the entry has another key, so rewrite it
        return [Change(path, new)]
    return [Change((*path, key), value) for key, value in new.items()]


def usual_protocol(provider: str) -> str:
    """The protocol of a provider that names none."""
    preset = PRESETS.get(provider)
    return DEFAULT_PROTOCOL if preset is None else preset.protocol


def _known_address(provider: str) -> str:
    preset = PRESETS.get(provider)
    if preset is not None:
        return preset.base_url
    raise ConfigError(
        f"unknown address of provider {provider!r}",
        where="--base-url",
        hint=f"set it with --base-url, or use one of {', '.join(PRESETS)}",
    )


def _alias(values: SetupValues, old: Mapping[Path, Leaf]) -> str | None:
    """The model's alias: its name, unless a model of another provider has that."""
    if values.model is None:
        return None
    taken = _entry(old, "models", values.model)
    if taken.get("provider", values.provider) == values.provider:
        return values.model
    return f"{values.provider}/{values.model}"


def _notices(
    env: Mapping[str, str], variable: str | None, kept: Mapping[str, str]
) -> tuple[str, ...]:
    if variable is None:
        return ()
    if variable not in env and variable not in kept:
        return (f"unknown key yet: say --api-key, or set {variable}",)
    if env.get(variable) != kept.get(variable, env.get(variable)) and variable in env:
        return (f"{variable} of the environment overrides the one in {ENV_FILE}; unset it",)
    return ()
