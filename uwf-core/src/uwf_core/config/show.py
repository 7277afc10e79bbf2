"""The data of `config show` and `config get`: values by key, secrets masked, origins."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from uwf_core.config.check import nearest
from uwf_core.config.keys import (
    CONFIG,
    Entry,
    Kind,
    Named,
    Path,
    Section,
    key_text,
    kind_at,
    parse_key,
)
from uwf_core.config.secrets import masked
from uwf_core.errors import ConfigError
from uwf_core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from uwf_core.config.settings import Settings


class Row(NamedTuple):
    """A value and its origin; `layer` and `place` as in `Origin`."""

    key: str
    value: Any
    layer: str
    place: str | None

    def document(self) -> dict[str, Any]:
        """The row as JSON."""
        return {"key": self.key, "value": self.value, "origin": self.layer, "place": self.place}


def settings_document(settings: "Settings") -> dict[str, Any]:
    """All settings under the keys of config.yaml, defaults included, secrets masked.

    A value that is not set and has no default is null, or an empty mapping or list.
    """
    limits = settings.limits
    document = {
        "providers": {name: _provider(each) for name, each in settings.providers.items()},
        "models": {name: _said(each._asdict()) for name, each in settings.models.items()},
        "agents": {name: _agent(each) for name, each in settings.agents.items()},
        "defaultAgent": settings.default_agent,
        "agentOverrides": {name: dict(each) for name, each in settings.agent_overrides.items()},
        "defaultModel": settings.default_model,
        "modelOverrides": dict(settings.model_overrides),
        "store": settings.store,
        "workflowPaths": list(settings.workflow_paths),
        "allowedFolders": list(settings.allowed_folders),
        "plugins": {"block": list(settings.blocked)},
        "extractors": list(settings.extractors),
        "limits": {
            "runSeconds": limits.run_seconds,
            "idleSeconds": limits.idle_seconds,
            "graceSeconds": limits.grace_seconds,
            "replyBytes": limits.reply_bytes,
        },
    }
    shown: dict[str, Any] = masked(settings, document)
    return shown


def settings_rows(settings: "Settings") -> list[Row]:
    """One row per value, in the order of the table of keys."""
    rows = []
    for path, value in settings_values(settings):
        origin = settings.origin(path)
        rows.append(Row(key_text(path), value, origin.layer, origin.place))
    return rows


def settings_values(settings: "Settings") -> Iterator[tuple[Path, Any]]:
    """Every value with its key, secrets masked, in the order of the table of keys."""
    return flat(CONFIG, settings_document(settings), ())


def get_setting(settings: "Settings", key: str) -> Any:
    """The value at a dotted key, secrets masked; None if it is not set.

    Raises:
        ConfigError: the key or the entry is unknown.
    """
    path = known_path(key)
    value: Any = settings_document(settings)
    for depth, name in enumerate(path):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, dict) and isinstance(kind_at(path[:depth]), Named):
            raise ConfigError(
                f"unknown entry {key_text(path[: depth + 1])}",
                where="uwf config get",
                hint=nearest(name, value),
            )
        else:
            return None
    return value


def known_path(key: str) -> Path:
    """Parse a dotted key to a path.

    Raises:
        ConfigError: the key is unknown.
    """
    path = parse_key(key)
    if kind_at(path) is not None:
        return path
    depth = next(depth for depth in range(len(path)) if kind_at(path[: depth + 1]) is None)
    above = kind_at(path[:depth])
    if isinstance(above, Section | Entry):
        hint = nearest(path[depth], above.keys)
    elif isinstance(above, Named):
        hint = f"add the name of {above.what}"
    else:
        hint = f"{key_text(path[:depth])} is a single value"
    raise ConfigError(f"unknown key {key!r}", hint=hint)


def flat(kind: Kind | None, value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The values within a value of this kind, with their keys."""
    if not isinstance(kind, Section | Entry | Named) or not isinstance(value, dict):
        yield path, value
        return
    for name, each in value.items():
        here = (*path, name)
        yield from flat(kind_at(here), each, here)


def _provider(provider: Any) -> dict[str, Any]:
    return _said(
        {
            "baseUrl": provider.base_url,
            "apiKey": provider.api_key,
            "apiKeyEnv": provider.api_key_env,
        }
    )


def _agent(agent: Any) -> dict[str, Any]:
    values = {
        "use": agent.use,
        "options": dict(agent.options) or None,
        "command": agent.command,
        "args": list(agent.args) or None,
        "capabilities": sorted(agent.capabilities) or None,
        "env": list(agent.env) or None,
    }
    return _said(values)


def _said(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value is not None}
