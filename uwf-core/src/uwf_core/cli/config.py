"""`uwf config`: show, get, set, path, trust."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session, as_json


def show(session: Session, origin: bool) -> None:
    """Show all settings, defaults included; secrets are masked."""
    from uwf_core.config.show import settings_document, settings_rows

    settings = session.engine.settings
    if origin:
        rows = [row.document() for row in settings_rows(settings)]
        session.emit({"settings": rows}, _rows_text)
    else:
        session.emit(settings_document(settings), _value_text)


def get(session: Session, key: str) -> None:
    """Print one setting; secrets are masked. KEY is dotted, as in limits.runSeconds."""
    from uwf_core.config.show import get_setting

    value = get_setting(session.engine.settings, key)
    session.emit({"key": key, "value": value}, lambda each, _: _value_text(each["value"], _))


def set_(session: Session, key: str, value: str, add: bool, remove: bool) -> None:
    """Change one setting."""
    from uwf_core.config.change import change_list, config_path, set_value
    from uwf_core.config.show import get_setting
    from uwf_core.engine.names import check_change

    engine = session.engine
    if not (add or remove):
        set_value(engine.home, key, value, lambda path, new: check_change(engine, path, new))
    else:
        change_list(engine.home, key, value, add=add)
    shown = get_setting(session.reopened().settings, key)
    document = {"key": key, "value": shown, "file": config_path(engine.home)}
    session.emit(document, lambda each, _: f"{each['key']} in {each['file']}")


def path(session: Session) -> None:
    """Print the paths of your configuration and of the project's."""
    from uwf_core.config.change import config_path
    from uwf_core.config.trust import find_project

    engine = session.engine
    project = find_project(engine.home, engine.cwd, engine.env)
    document = {
        "home": engine.home,
        "file": config_path(engine.home),
        "project": None if project is None else project.file,
        "plugins": None if project is None else project.plugins,
        "trusted": None if project is None else project.trusted,
    }
    session.emit(document, _path_text)


def trust(session: Session, folder: str) -> None:
    """Trust a folder."""
    from uwf_core.config.trust import trust as trust_folder

    document = {"trusted": trust_folder(session.engine.home, folder)}
    session.emit(document, lambda each, _: f"trusted: {each['trusted']}")


def _value_text(value: Any, _screen: Screen) -> str:
    from uwf_core.workflow.yaml_text import yaml_text

    return value if isinstance(value, str) else yaml_text(value).rstrip()


def _path_text(document: Mapping[str, Any], _screen: Screen) -> str:
    lines = [document["file"]]
    trusted = "trusted" if document["trusted"] else "not trusted"
    lines += [f"{document[key]} ({trusted})" for key in ("project", "plugins") if document[key]]
    return "\n".join(lines)


def _rows_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("key", "KEY", least=12),
        Column("shown", "VALUE", least=10),
        Column("origin", "ORIGIN", rank=1),
        Column("place", "PLACE", least=10, rank=2),
    )
    rows = [
        {
            **row,
            "shown": row["value"]
            if isinstance(row["value"], str)
            else as_json(row["value"], compact=True),
        }
        for row in document["settings"]
    ]
    return table(columns, rows, screen)
