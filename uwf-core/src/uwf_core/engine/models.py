"""A model of the configuration with the protocol of its service, which may be a plugin."""

from dataclasses import replace
from typing import TYPE_CHECKING

from uwf_core.errors import PluginError
from uwf_core.plugins.scan import MODELS
from uwf_core.plugins.status import RESERVED

if TYPE_CHECKING:
    from uwf_core.api.agent import Model
    from uwf_core.engine.engine import Engine


def callable_model(engine: "Engine", alias: str) -> "Model":
    """The model named `alias`, ready to be called.

    Raises:
        ConfigError: it, its provider, a required value or its protocol is missing.
        PluginError, PluginBroken: the plugin of its protocol cannot be loaded.
    """
    return with_protocol(engine, engine.settings.model(alias))


def with_protocol(engine: "Engine", model: "Model") -> "Model":
    """A model with its protocol loaded, if a plugin has that.

    Raises:
        PluginError, PluginBroken: the plugin cannot be loaded.
    """
    name = model.protocol
    if name in RESERVED[MODELS] and name not in engine.settings.blocked:
        return model
    plugins = engine.plugins
    try:
        factory = plugins.attribute(MODELS, name, plugins.record(MODELS, name).factory)
    except PluginError as error:
        error.where = error.where or f"providers -> {model.provider} -> protocol"
        raise
    return replace(model, protocol_factory=factory)
