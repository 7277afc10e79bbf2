"""For adapters that are commands as well: what the engine provides in its own process.

from uwf_core.api.serve import serve_agent
from uwf_core.serving import installed_tools, with_protocol

def main() -> int:
    return serve_agent(uwf_agents()[0], tools=installed_tools, model=with_protocol)
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.engine import models
from uwf_core.engine.models import callable_model, default_model
from uwf_core.engine.open_engine import open_engine
from uwf_core.engine.open_plugins import plugin_tools
from uwf_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uwf_core.api.models import Model
    from uwf_core.api.tool import LoadedTool
    from uwf_core.engine.engine import Engine


def installed_tools() -> "Sequence[LoadedTool]":
    """The tools of the installed plugins, except blocked ones. A tool that cannot be loaded is
    reported on stderr and left out.

    Raises:
        ConfigError: the settings have errors.
    """
    with _engine() as engine:
        return plugin_tools(engine)


def configured_model(alias: str | None) -> "Model":
    """The model of that name in the configuration, with its service, key and protocol; None is the
    default model.

    Raises:
        ConfigError: it, its provider, a required value or its protocol is missing.
        PluginError, PluginBroken: the plugin of its protocol cannot be loaded.
    """
    with _engine() as engine:
        model = default_model(engine) if alias is None else callable_model(engine, alias)
    if model is None:
        raise ConfigError("no model is configured", hint="next: uwf setup")
    return model


def with_protocol(model: "Model") -> "Model":
    """A model with its protocol loaded, if an installed plugin has that.

    Raises:
        PluginError, PluginBroken: the plugin cannot be loaded.
    """
    with _engine() as engine:
        return models.with_protocol(engine, model)


@contextmanager
def _engine() -> "Iterator[Engine]":
    engine = open_engine(
        env=os.environ,
        cwd=str(Path.cwd()),
        on_fault=lambda fault: print(f"note: {fault}", file=sys.stderr),
    )
    try:
        yield engine
    finally:
        engine.close()
