"""`uwf config`: show, get, set, path, trust."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session, as_json


@command("show", "uwf config show", "uwf config show --origin")
@click.option("--origin", is_flag=True, help="Show the layer and file of each value.")
def show(session: Session, origin: bool) -> None:
    """Show all settings, defaults included; secrets are masked."""
    from uwf_core.config.show import settings_document, settings_rows

    settings = session.engine.settings
    if origin:
        rows = [row.document() for row in settings_rows(settings)]
        session.emit({"settings": rows}, _rows_text)
    else:
        session.emit(settings_document(settings), _value_text)


@command("get", "uwf config get defaultAgent", "uwf config get 'models.\"gpt-4.1\".name'")
@click.argument("key", metavar="KEY")
def get(session: Session, key: str) -> None:
    """Print one setting; secrets are masked. KEY is dotted, as in limits.runSeconds."""
    from uwf_core.config.show import get_setting

    value = get_setting(session.engine.settings, key)
    session.emit({"key": key, "value": value}, lambda each, _: _value_text(each["value"], _))


@command(
    "set", "uwf config set defaultAgent hermes", "uwf config set limits.runSeconds 600",
    "uwf config set --add plugins.block noisy-observer",
)  # fmt: skip
@click.argument("key", metavar="KEY")
@click.argument("value", metavar="VALUE")
@click.option("--add", "change", flag_value="add", help="Add VALUE to the list at KEY.")
@click.option("--remove", "change", flag_value="remove", help="Remove VALUE from the list at KEY.")
def set_(session: Session, key: str, value: str, change: str | None) -> None:
    """Change one setting of your config.yaml; the rest of the file stays unchanged.

    VALUE is text where the key takes text, else YAML: [a, b], {use: mock}, 5, or null to unset.
    The result is validated before it is written: agents, models, extractors and observers must
    exist, and an agent must have the options.
    """
    from uwf_core.config.change import change_list, config_path, set_value
    from uwf_core.config.show import get_setting
    from uwf_core.engine.names import check_change

    engine = session.engine
    if change is None:
        set_value(engine.home, key, value, lambda path, new: check_change(engine, path, new))
    else:
        change_list(engine.home, key, value, add=change == "add")
    shown = get_setting(session.reopened().settings, key)
    document = {"key": key, "value": shown, "file": config_path(engine.home)}
    session.emit(document, lambda each, _: f"{each['key']} in {each['file']}")


@command("path", "uwf config path")
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


@command("trust", "uwf config trust", "uwf config trust ~/work/shop")
@click.argument("folder", metavar="[DIR]", default=".")
def trust(session: Session, folder: str) -> None:
    """Trust a folder: its settings may define agents, its plugins are imported, its workflows may
    hide others.

    Trusts only that folder (default: the current one), not the folders below it. Its files
    `.uwf/plugins/*/*.py`, also later ones, then run as a part of uwf.
    """
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
