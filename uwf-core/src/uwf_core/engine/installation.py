"""What is installed and configured, to check before a run."""

from collections.abc import Sequence
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING

from uwf_core.engine.models import callable_model
from uwf_core.errors import ConfigError
from uwf_core.plugins.scan import AGENTS

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

_OF_A_FIRST_STEP = (
    "yaml", "uwf_core.api.hookspecs", "uwf_core.maintenance.copy_nodes", "uwf_core.engine.judging",
    "uwf_core.engine.events", "uwf_core.views.read", "uwf_core.engine.run", "uwf_core.views.show",
    "uwf_core.threads.start", "uwf_core.views.steps", "uwf_core.extract.frontmatter",
    "uwf_core.stores.memory",
)  # fmt: skip


class Installation:
    """The agents, models and plugins that an engine can use; queries import no plugin."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    def warm_up(self) -> None:
        """Import what a first step needs, and scan the installation; imports no plugin."""
        for name in _OF_A_FIRST_STEP:
            import_module(name)
        _ = self._engine.redactor
        self._engine.store.has("0" * 13)
        self.names("uwf.agents")

    def names(self, group: str) -> Sequence[str]:
        """The entry points of a group (such as `uwf.eval_tasks`), sorted."""
        return sorted({each.found.name for each in self._engine.plugins.list((group,))})

    def entry_point(self, group: str, name: str) -> str:
        """The target of an entry point, such as a package.

        Raises:
            PluginError: it is unknown, blocked, incompatible or claimed twice.
        """
        return self._engine.plugins.found(group, name).target

    def origin(self, group: str, name: str) -> str:
        """The plugin of an entry point with its distribution and version.

        Raises:
            PluginError: as `entry_point`.
        """
        return str(self._engine.plugins.found(group, name))

    def check_agent(self, word: str | None, folder: str | PathLike[str]) -> None:
        """Check that a word names an agent that may be used.

        Args:
            word: as after `--agent`; None: the configured agent.
            folder: the base of the path of a program.

        Raises:
            UsageError: it does not.
        """
        chosen = self._engine.settings.default_agent if word is None else word
        if chosen is not None:
            self._engine.check_agent(chosen, fspath(folder))
        elif not self._engine.settings.agent_overrides:
            from uwf_core.agents.choose import NO_AGENT

            raise ConfigError("no agent set", where="defaultAgent", hint=NO_AGENT)

    def takes_model(self, word: str | None, folder: str | PathLike[str]) -> bool:
        """Whether an agent has an option `model`, instead of a model of the configuration; imports
        the plugin's options.

        Raises:
            UsageError: as `check_agent`. PluginBroken: it cannot be imported.
        """
        from uwf_core.agents.choose import resolve_agent

        chosen = self._engine.settings.default_agent if word is None else word
        if chosen is None:
            return False
        plugin = resolve_agent(chosen, self._engine.agent_catalog(fspath(folder))).plugin
        if plugin is None:
            return False
        plugins = self._engine.plugins
        options = plugins.record(AGENTS, plugin).options
        cls = None if options is None else plugins.attribute(AGENTS, plugin, options)
        return "model" in getattr(cls, "__dataclass_fields__", {})

    def check_model(self, name: str) -> None:
        """Check that the configuration has a model of this name.

        Raises:
            ConfigError: it is unknown, or its provider is invalid.
        """
        callable_model(self._engine, name)
