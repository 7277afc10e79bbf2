"""The settings as documents: all, one, changed; and the files that they come from."""

from typing import TYPE_CHECKING, Any

from uwf_core.config.change import change_list, config_path, set_value
from uwf_core.config.show import get_setting, settings_document, settings_rows
from uwf_core.config.trust import find_project

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def show_settings(engine: "Engine", *, origin: bool = False) -> dict[str, Any]:
    """All settings, defaults included, or a row for each with its origin; secrets are masked."""
    settings = engine.settings
    if origin:
        return {"settings": [row.document() for row in settings_rows(settings)]}
    return settings_document(settings)


def show_setting(engine: "Engine", key: str) -> dict[str, Any]:
    """One setting; secrets are masked. Raises ConfigError if the key is unknown."""
    return {"key": key, "value": get_setting(engine.settings, key)}


def change_setting(
    engine: "Engine", key: str, value: str, *, add: bool, remove: bool
) -> dict[str, Any]:
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
    return {**show_setting(engine, key), "file": config_path(engine.home)}


def show_paths(engine: "Engine") -> dict[str, Any]:
    """The files that settings come from."""
    project = find_project(engine.home, engine.cwd, engine.env)
    return {
        "home": engine.home,
        "file": config_path(engine.home),
        "project": project and project.file,
        "plugins": project and project.plugins,
        "trusted": project and project.trusted,
    }
