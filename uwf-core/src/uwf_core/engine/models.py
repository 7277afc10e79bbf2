"""A model of the configuration with the protocol of its service, which may be a plugin."""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from uwf_core.errors import PluginError
from uwf_core.plugins.scan import MODELS
from uwf_core.plugins.status import RESERVED

if TYPE_CHECKING:
    from uwf_core.api.models import Model
    from uwf_core.engine.engine import Engine


def callable_model(engine: "Engine", alias: str) -> "Model":
    """The model named `alias`, ready to be called.

    Raises:
        ConfigError: it, its provider, a required value or its protocol is missing.
        PluginError, PluginBroken: the plugin of its protocol cannot be loaded.
    """
    from uwf_core.config.models import resolve_model  # not for every step

    return with_protocol(engine, resolve_model(engine.settings, alias))


def model_of(
    engine: "Engine", capabilities: Collection[str], suggested: str | None = None
) -> "Model | None":
    """The model for an agent with the capability `model`; None for every other. The order: that
    of this call, `model` of the role (`suggested`) if the user has it, the default.
    """
    if "model" not in capabilities:
        return None
    settings = engine.settings
    by_call = settings.origin(("defaultModel",)).layer == "flag"
    if suggested is None or suggested not in settings.models or by_call:
        return default_model(engine)
    return callable_model(engine, suggested)


def default_model(engine: "Engine") -> "Model | None":
    """The default model of the configuration, with its key."""
    name = engine.settings.default_model
    return None if name is None else callable_model(engine, name)


def extract_model(engine: "Engine") -> "Model | None":
    """The model for extractors that call one."""
    name = engine.settings.model_overrides.get("extract")
    return default_model(engine) if name is None else callable_model(engine, name)


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
