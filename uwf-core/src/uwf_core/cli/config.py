"""The settings as people read them."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import as_json


def settings_text(document: Mapping[str, Any], screen: Screen, origin: bool) -> str:
    """`config show`."""
    return _rows_text(document, screen) if origin else _value_text(document)


def setting_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`config get`."""
    return _value_text(document["value"])


def _value_text(value: Any) -> str:
    from uwf_core.workflow.yaml_text import yaml_text

    return value if isinstance(value, str) else yaml_text(value).rstrip()


def paths_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`config path`."""
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
