"""The data of `config show` and `config get`: values by key, secrets masked, origins."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.config.keys import Config, Path, key_text, parse_key, shape_at
from uwf_core.config.secrets import masked
from uwf_core.errors import ConfigError
from uwf_core.fields.kinds import Anything, MapOf, RecordOf
from uwf_core.fields.mismatch import suggestion
from uwf_core.fields.records import camel, write_record

if TYPE_CHECKING:
    from uwf_core.config.settings import Settings


class SettingRow(NamedTuple):
    """A value and its origin; `origin` and `place` as the layer and place of `Origin`."""

    key: str
    value: Any
    origin: str
    place: str | None


def settings_document(settings: "Settings") -> dict[str, Any]:
    """All settings under the keys of config.yaml, defaults included, secrets masked.

    A value that is not set and has no default is null, or an empty mapping or list.
    """
    document = {camel(name): _given(getattr(settings, name, None)) for name in Config._fields}
    order = list(settings.observer_order)
    document["plugins"] = {"block": list(settings.blocked), "order": order}
    shown: dict[str, Any] = masked(settings, document)
    return shown


def _given(value: Any) -> Any:
    """A value as JSON, without the keys that are not set; a whole number as users write it."""
    value = write_record(value)
    if isinstance(value, dict):
        return {key: _given(each) for key, each in value.items() if each not in (None, {}, [])}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def settings_rows(settings: "Settings") -> list[SettingRow]:
    """One row per value, in the order of the table of keys."""
    rows = []
    for path, value in settings_values(settings):
        origin = settings.origin(path)
        rows.append(SettingRow(key_text(path), value, origin.layer, origin.place))
    return rows


def settings_values(settings: "Settings") -> Iterator[tuple[Path, Any]]:
    """Every value with its key, secrets masked, in the order of the table of keys."""
    return flat(settings_document(settings))


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
        elif isinstance(value, dict) and isinstance(shape_at(path[:depth]), MapOf):
            raise ConfigError(
                f"unknown entry {key_text(path[: depth + 1])}",
                where="uwf config get",
                hint=suggestion(name, value),
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
    if shape_at(path) is not None:
        return path
    depth = next(depth for depth in range(len(path)) if shape_at(path[: depth + 1]) is None)
    above = shape_at(path[:depth])
    if isinstance(above, RecordOf):
        hint = suggestion(path[depth], above.fields)
    elif isinstance(above, MapOf):
        hint = f"add the name of {above.what}"
    else:
        hint = f"{key_text(path[:depth])} is a single value"
    raise ConfigError(f"unknown key {key!r}", hint=hint)


def flat(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values within the value of a key, with their keys."""
    shape = shape_at(path)
    if not isinstance(value, dict) or isinstance(shape and shape.at("any"), Anything):
        yield path, value
        return
    for name, each in value.items():
        yield from flat(each, (*path, name))
