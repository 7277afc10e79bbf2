"""The settings as documents: all, one, changed; and the files that they come from."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NotRequired, TypedDict

from uwf_core.config.change import change_list, config_path, set_value
from uwf_core.config.keys import Config
from uwf_core.config.show import SettingRow, get_setting, settings_document, settings_rows
from uwf_core.config.trust import find_project
from uwf_core.errors import ConfigError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


class Origins(NamedTuple):
    """Every value with its origin."""

    settings: list[SettingRow]


class Setting(TypedDict):
    """One setting, and the file that has it now if it was changed."""

    key: str
    value: Any
    file: NotRequired[str]


class SettingFiles(NamedTuple):
    """The files that settings come from; null without a project."""

    home: str
    file: str
    project: str | None
    plugins: str | None
    trusted: bool | None


def show_settings(
    engine: "Engine", *, origin: bool = False
) -> Annotated[dict[str, Any], Config] | Origins:
    """All settings, defaults included, or a row for each with its origin; secrets are masked."""
    settings = engine.settings
    return Origins(settings_rows(settings)) if origin else settings_document(settings)


def show_setting(engine: "Engine", key: str) -> Setting:
    """One setting; secrets are masked. Raises ConfigError if the key is unknown."""
    return {"key": key, "value": get_setting(engine.settings, key)}


def change_setting(engine: "Engine", key: str, value: str, *, add: bool, remove: bool) -> Setting:
    """Change one setting of the user's configuration.

    Raises:
        ConfigError: the key is unknown, or the result would be invalid.
    """
    from uwf_core.engine.names import check_change  # reads the list of plugins

    if add or remove:
        change_list(engine.home, key, value, add=add)
    else:
        set_value(engine.home, key, value, lambda path, new: check_change(engine, path, new))
    vars(engine).pop("settings", None)  # they are read again
    settings, new = engine.settings, None
    with suppress(ConfigError):  # an entry that is unset now is unknown
        new = get_setting(settings, key)
    return {"key": key, "value": new, "file": config_path(engine.home)}


def show_paths(engine: "Engine") -> SettingFiles:
    """The files that settings come from."""
    project = find_project(engine.home, engine.cwd, engine.env)
    found = (project.file, project.plugins, project.trusted) if project else (None, None, None)
    return SettingFiles(engine.home, config_path(engine.home), *found)
