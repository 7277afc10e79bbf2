"""Create a plugin as a run does, verify that it has what it announces, and close it."""

import inspect
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from uwf_core.agents.choose import Choice, resolve_agent
from uwf_core.agents.open import open_agent
from uwf_core.agents.supervise import close_call
from uwf_core.api.agent import AgentContext
from uwf_core.api.models import Model
from uwf_core.errors import ConfigError, StoreError
from uwf_core.fields.records import read_options
from uwf_core.plugins.loading import broken, plugin_code
from uwf_core.plugins.scan import (
    AGENTS,
    EXPORTERS,
    EXTRACTORS,
    IMPORTERS,
    JUDGES,
    MODELS,
    STORES,
    TOOLS,
)

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.scan import EntryPoint

_METHODS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    AGENTS: {"run": ("request", "sink"), "close": ()},
    EXTRACTORS: {"extract": ("request",)},
    JUDGES: {"judge": ("request",)},
    STORES: {"get": ("ref",), "close": ()},
    EXPORTERS: {"export": ("thread",)},
    IMPORTERS: {"recognizes": ("path",), "convert": ("path", "maker")},
    MODELS: {"request": ("request", "stream="), "reader": ("request", "builder")},
    TOOLS: {"__call__": ("arguments", "context")},
}
"""The arguments of each method; the name of one that is given by name ends with `=`."""
_OF_CAPABILITY = {"fork": ("session", "request"), "ask": ("request", "sink")}
"""The methods that an agent needs for its capabilities."""


def create(engine: "Engine", found: "EntryPoint", record: Any, word: str | None) -> None:
    """Create the plugin in a temporary folder, verify its methods, and close it.

    An agent gets the options that `word` selects, all others their default options. If an option
    has no default, or a store needs a place that nobody named, it is only imported.

    Raises:
        PluginBroken: it cannot be created or closed, or lacks a method.
        ConfigError: `word` selects options that the agent does not have.
        AgentFailure: raised by the agent.
    """
    if found.group not in _METHODS:
        return
    with TemporaryDirectory(prefix="uwf-check-") as folder:
        if found.group == AGENTS:
            _agent(engine, found, record, word, folder)
        elif found.group == STORES:
            _store(engine, found, record, folder)
        elif found.group == MODELS:
            _check_methods(found, _made(engine, found, record, *_example_model(found.name)))
        elif found.group in (TOOLS, EXPORTERS, IMPORTERS):
            _check_methods(found, _made(engine, found, record))
        else:
            _with_options(engine, found, record, folder)


def _agent(
    engine: "Engine", found: "EntryPoint", record: Any, word: str | None, folder: str
) -> None:
    plugins, name = engine.plugins, found.name
    if word is None:
        choice = Choice("plugin", name, "", name, plugin=name, where=f"agents -> {name}")
    else:
        choice = resolve_agent(word, engine.agent_catalog(engine.cwd))
    opened = open_agent(
        choice,
        lambda _: record,
        AgentContext(name=choice.word, state_dir=folder),
        distribution=found.origin,
        load_attribute=lambda name, path: plugins.attribute(AGENTS, name, path),
        guard=plugins.guard,
    )
    extra = {name: _OF_CAPABILITY[name] for name in _OF_CAPABILITY if name in record.capabilities}
    _check_methods(found, opened.agent, extra)
    failure = close_call(opened)
    if failure is not None:
        raise broken(found, failure.message)


def _store(engine: "Engine", found: "EntryPoint", record: Any, folder: str) -> None:
    plugins = engine.plugins
    factory = plugins.attribute(STORES, found.name, record.factory)
    with plugins.guard, plugin_code(found, "its factory failed"):
        try:
            backend = factory(f"{found.name}:check", folder)
        except StoreError:  # it needs another place, such as a server
            return
    _check_methods(found, backend)
    with plugins.guard, plugin_code(found, "closing it"):
        backend.close()


def _with_options(engine: "Engine", found: "EntryPoint", record: Any, folder: str) -> None:
    plugins = engine.plugins
    cls = record.options and plugins.attribute(found.group, found.name, record.options)
    try:
        options = read_options(cls, {}, where="options") if cls else None
    except ConfigError:  # an option without a default
        plugins.attribute(found.group, found.name, record.factory)
        return
    context = AgentContext(name=found.name, state_dir=folder)
    _check_methods(found, _made(engine, found, record, options, context))


def _example_model(protocol: str) -> tuple[Any, str]:
    base_url = "http://127.0.0.1:9/v1"
    model = Model(alias="m", name="m", provider="p", base_url=base_url, protocol=protocol)
    return model, "example"


def _made(engine: "Engine", found: "EntryPoint", record: Any, *arguments: Any) -> Any:
    factory = engine.plugins.attribute(found.group, found.name, record.factory)
    with engine.plugins.guard, plugin_code(found, "its factory failed"):
        return factory(*arguments)


def _check_methods(
    found: "EntryPoint", made: Any, extra: Mapping[str, tuple[str, ...]] | None = None
) -> None:
    for name, parameters in {**_METHODS[found.group], **(extra or {})}.items():
        words = [f"{each}…" if each.endswith("=") else each for each in parameters]
        call = f"{name}({', '.join(words)})"
        by_name = {each[:-1]: None for each in parameters if each.endswith("=")}
        positional = [each for each in parameters if not each.endswith("=")]
        # A function's own `__call__` takes anything.
        method = made if name == "__call__" else getattr(made, name, None)
        if not callable(method):
            raise broken(found, f"its factory returned {type(made).__name__}, which has no {call}")
        try:
            inspect.signature(method).bind(*positional, **by_name)
        except TypeError as error:
            raise broken(
                found, f"{type(made).__name__} cannot be called as {call}: {error}"
            ) from error
        except ValueError:  # a method in C without a signature
            continue
