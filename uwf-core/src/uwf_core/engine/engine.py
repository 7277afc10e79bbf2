"""The Engine: everything that a command needs, each part created at its first use."""

# Every command comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH100

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from uwf_core.config.home import find_home
from uwf_core.errors import ConfigError, PluginBroken, PluginError
from uwf_core.ids import Ref, ThreadIds

if TYPE_CHECKING:
    from uwf_core.agents.choose import AgentCatalog
    from uwf_core.api.dispatch import Dispatch
    from uwf_core.api.redact import Redactor
    from uwf_core.api.store import StoreBackend, StoreSpec
    from uwf_core.cas.store import Store
    from uwf_core.cas.variables import VariableStore
    from uwf_core.config.settings import Settings
    from uwf_core.plugins.observers import Observers
    from uwf_core.plugins.plugins import Plugins
    from uwf_core.plugins.scan import EntryPoint
    from uwf_core.thread.nodes import Nodes
    from uwf_core.thread.types import PersonPayload, StartPayload
    from uwf_core.workflow.definition import Definition


class Definitions(dict[str, "Definition"]):
    """The published workflows that were read, by reference; a missing one is read."""

    def __init__(self, store: Callable[[], "Store"]) -> None:
        super().__init__()
        self._store = store

    def __missing__(self, ref: str) -> "Definition":
        """Read a workflow; raises as `Engine.definition`."""
        from uwf_core.workflow.definition import read_definition

        self[ref] = read_definition(self._store(), Ref(ref))
        return self[ref]


class Engine:
    """The settings, store and plugins of one user in one folder. Opening it reads nothing.

    Attributes:
        env: the environment of the process. cwd: the caller's folder, absolute.
        home: uwf's own folder (`UWF_HOME`).
        on_fault: gets errors that do not stop the work: of an observer, of ignored settings.
        beside: an engine of the same process, whose plugins, schemas and workflows this one shares.
        agent_options: options for every plugin, before those of the configuration.
        pass_env: names of variables that every agent gets, whatever it declares.
        durable: whether what is stored waits for the disk.
        via: the surface that a person uses (`cli`, `python`). rows_of: makes the dispatch rows of
            threads, of their new heads. thread_ids: makes those of threads.
        has_sent_notices: whether this process has started the sender of notices.
        speaker: the person for whom a worker runs a thread, in place of the user of the process.
        worker_labels: those of a worker, which runs no other agent; None for all others.
        on_dispatch: gets the dispatch rows of a commit, before it.
        claimed: the thread that a worker runs. known_row: the row of its newest head.
        installed: the entry points, if this process has scanned them before it needs the plugins.
        imports_original: whether it imports a folder, so that no notice names one of the original.
    """

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        cwd: str,
        flags: Mapping[str, str] | None = None,
        on_fault: Callable[[BaseException | str], None] | None = None,
        beside: "Engine | None" = None,
        agent_options: Mapping[str, Any] | None = None,
        pass_env: Sequence[str] = (),
        durable: bool = True,
        via: str = "python",
        rows_of: "Callable[[Engine, Sequence[Any]], list[Dispatch]] | None" = None,
    ) -> None:
        self.env = dict(env)
        self.cwd = os.path.abspath(cwd)
        self.home = find_home(env)
        self.on_fault = on_fault
        self._flags, self._rows_of = dict(flags or {}), rows_of
        self._beside = beside
        self.agent_options, self.pass_env = dict(agent_options or {}), tuple(pass_env)
        self.durable = durable
        self.via = via
        self.has_sent_notices = self.imports_original = False
        self.thread_ids: ThreadIds = beside.thread_ids if beside else ThreadIds()
        self.installed: Sequence[EntryPoint] | None = None
        self.worker_labels: Collection[str] | None = None
        self.speaker: PersonPayload | None = None
        self.on_dispatch: Callable[[Sequence[Dispatch]], None] | None = None
        self.claimed: str | None = None
        self.known_row: tuple[bytes, Dispatch] | None = None
        self._starts: dict[str, StartPayload] = {}
        own = Definitions(lambda: self.store)
        self.definitions: Definitions = beside.definitions if beside else own

    def now_ms(self) -> int:
        """The time, in ms since 1970."""
        return time.time_ns() // 1_000_000

    @cached_property
    def settings(self) -> "Settings":
        """The settings, from all layers.

        Raises:
            ConfigError: they have errors.
        """
        from uwf_core.config.settings import load_settings

        settings = load_settings(self.home, self.cwd, self.env, self._flags)
        for notice in settings.notices:
            self.report_fault(notice)
        return settings

    @cached_property
    def store(self) -> "Store":
        """The store.

        Raises:
            StoreError: it cannot be opened.
        """
        from uwf_core.cas.store import Store

        types = self._beside.store.types if self._beside else None
        rows = None
        if self._rows_of is not None and self.has_workers:
            rows = partial(self._rows_of, self)
        return Store(self.backend, self.now_ms, types, durable=self.durable, dispatch=rows)

    @property
    def variables(self) -> "VariableStore":
        """The variables of the store: a list reads no node, and loads nothing for it."""
        from uwf_core.cas.variables import VariableStore

        return self.__dict__.get("store") or VariableStore(self.backend, self.now_ms, self.durable)

    @property
    def has_workers(self) -> bool:
        """Whether the store keeps dispatch rows, so that workers can run its threads."""
        return hasattr(self.backend, "claim")  # the contract itself is not for every command

    @cached_property
    def backend(self) -> "StoreBackend":
        """The backend of the store; raises as `store`."""
        from uwf_core.config.original import store_notices

        try:
            backend = self.backend_at(self.settings.store)
        except PluginError as error:
            origin = self.settings.origin(("store",))
            cure = "; next: uwf config set store sqlite:store.db" if origin.layer == "user" else ""
            where, hint = f"store ({origin.place})", f"{error.hint}{cure}"
            raise ConfigError(error.message, where=where, hint=hint) from error
        new = self.via == "cli" and not self.imports_original
        for notice in store_notices(self.home, self.env, backend, new=new) if self.durable else ():
            self.report_fault(notice)
        return backend

    def backend_at(self, url: str) -> "StoreBackend":
        """The backend of another store; raises as `store`."""
        from uwf_core.stores.open import open_backend

        return open_backend(url, self.home, self._plugin_store, durable=self.durable)

    def check_store(self, url: str) -> None:
        """Raise PluginError unless the kind of a store is installed."""
        from uwf_core.stores.open import is_shared

        is_shared(url, self._plugin_store)

    def process_env(self) -> Mapping[str, str] | None:
        """The environment of another process that works as this one on the same store; None if
        there is none: the store is not shared, or the program that uses uwf has set options.
        """
        from uwf_core.config.keys import ENVIRONMENT
        from uwf_core.stores.open import is_shared

        own = self.agent_options or self.pass_env or not self.durable
        if own or not is_shared(self.settings.store, self._plugin_store):
            return None
        names = {key: name for name, key in ENVIRONMENT.items()}
        return {**self.env, **{names[key]: value for key, value in self._flags.items()}}

    def _plugin_store(self, scheme: str) -> "StoreSpec":
        """The record of a plugin's store."""
        from uwf_core.plugins.scan import STORES

        spec: StoreSpec = self.plugins.record(STORES, scheme)
        self.plugins.attribute(STORES, scheme, spec.factory)  # imported as all plugin code is
        return spec

    @cached_property
    def nodes(self) -> "Nodes":
        """The writer of a thread's typed nodes."""
        from uwf_core.thread.nodes import Nodes

        return Nodes(self.store)

    @cached_property
    def plugins(self) -> "Plugins":
        """The plugins of this installation and of the project, scanned at the first use; those of
        `beside` include its project's.
        """
        from uwf_core.plugins.guards import crashed_loads
        from uwf_core.plugins.plugins import Plugins, stderr_trace

        beside = self._beside
        if beside and (beside.home, beside.settings.blocked) == (self.home, self.settings.blocked):
            return beside.plugins
        for crashed in crashed_loads(self.home):
            self.report_fault(str(crashed))
        trace = stderr_trace(self.env, lambda line: self.redactor.text(line))
        return Plugins(
            self.settings.blocked, installed=self.installed, project=self._project_plugins(),
            home=self.home, trace=trace,
        )  # fmt: skip

    def _project_plugins(self) -> "Sequence[EntryPoint]":
        if self._beside:
            return self._beside._project_plugins()
        project = self.settings.project
        if project is None or project.plugins is None:
            return ()
        from uwf_core.plugins.project_plugins import scan_project

        return scan_project(project.folder, trusted=project.trusted)

    @cached_property
    def redactor(self) -> "Redactor":
        """Replaces known secrets in everything that is stored or printed."""
        from uwf_core.api.redact import Redactor
        from uwf_core.config.secrets import secrets

        return Redactor(secrets(self.settings))

    def person(self) -> "PersonPayload":
        """The user of this process, as the nodes record who answered, poked or cancelled."""
        import pwd

        from uwf_core.process.identity import hostname  # for what persons do

        if self.speaker is not None:
            return self.speaker
        try:
            user = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:  # a container whose user has no name
            user = str(os.getuid())
        text = self.redactor.text
        return {"user": text(user), "host": text(hostname()), "via": self.via}

    def agent_env(self, names: Sequence[str]) -> Mapping[str, str]:
        """The environment of an agent that declares these names: of the process and `.env`."""
        from uwf_core.api.environment import passed_on

        return passed_on(self.settings.environment, (*self.pass_env, *names))

    def trusts(self, folder: str) -> bool:
        """Whether the user trusts the working folder of a step, or its repository.

        Raises:
            ConfigError: the list of trusted folders cannot be read.
        """
        from uwf_core.config.trust import is_trusted_workspace

        return is_trusted_workspace(self.home, folder)

    def definition(self, ref: str) -> "Definition":
        """A published workflow.

        Raises:
            StoreError: it is missing or damaged. UnknownIdError: the node is not a workflow.
        """
        return self.definitions[ref]

    def start(self, ref: str) -> "StartPayload":
        """The start node of a thread.

        Raises:
            StoreError: it is missing or damaged.
        """
        if ref not in self._starts:
            from uwf_core.thread.history import read_start

            self._starts[ref] = read_start(self.store, Ref(ref))
        return self._starts[ref]

    def agent_catalog(self, folder: str) -> "AgentCatalog":
        """The agents that a word can name; paths are relative to `folder`."""
        from uwf_core.agents.choose import PREFIX, AgentCatalog, Alias
        from uwf_core.plugins.scan import AGENTS

        def on_path() -> dict[str, str]:
            from uwf_core.agents.on_path import agents_on_path
            from uwf_core.plugins.scan import COMMANDS

            found = agents_on_path(self.env.get("PATH", ""), (folder, self.cwd))
            for command in self.plugins.list((COMMANDS,)):  # `uwf-eval` is a command, not an agent
                if not command.found.untrusted:
                    found.pop(PREFIX + command.found.name, None)
            return found

        def installed() -> list[str]:
            """Their names; an untrusted project takes none from a program."""
            found = [each.found for each in self.plugins.list((AGENTS,))]
            # A list, since each item of a generator is a call, in every step.
            taken = on_path() if [each for each in found if each.untrusted] else {}
            return [
                each.name
                for each in found
                if not each.untrusted or PREFIX + each.name.removeprefix(PREFIX) not in taken
            ]

        aliases = {name: Alias(**each._asdict()) for name, each in self.settings.agents.items()}
        return AgentCatalog(
            aliases=aliases,
            installed=installed,
            folder=folder,
            on_path=on_path,
        )

    def alias_of(self, agent: str | None) -> str | None:
        """The alias of a command that a step recorded as `agent`; None if none is configured."""
        return self._command_aliases.get(agent or "")

    @cached_property
    def _command_aliases(self) -> dict[str, str]:
        if all(each.command is None for each in self.settings.agents.values()):
            return {}
        from uwf_core.agents.choose import command_aliases

        return command_aliases(self.settings.agents)

    def check_agent(self, word: str, folder: str) -> None:
        """Check that a word names an agent that may be used.

        Raises:
            UsageError: it does not.
        """
        from uwf_core.agents.choose import resolve_agent

        self.check_plugin(resolve_agent(word, self.agent_catalog(folder)).plugin)

    def check_plugin(self, agent: str | None) -> None:
        """Check that the plugin of an agent may be used, without importing it; None is a command.

        Raises:
            PluginError: it is unknown, blocked, incompatible or claimed twice.
        """
        from uwf_core.plugins.scan import AGENTS

        if agent is not None:
            with suppress(PluginBroken):  # reported as the failure of the step
                self.plugins.found(AGENTS, agent)

    def observers(self) -> "Observers | None":
        """The observers of plugins, imported now; None if none is installed."""
        settings = self.settings
        return self.plugins.observers(
            self.report_fault, settings.limits.run_seconds, settings.observer_order
        )

    def report_fault(self, fault: BaseException | str) -> None:
        """Report an error that does not stop the work."""
        if self.on_fault is not None:
            self.on_fault(fault)

    def close(self) -> None:
        """Close the store, or its backend alone, if it was opened."""
        opened = self.__dict__.get("store", self.__dict__.get("backend"))
        if opened is not None:
            opened.close()
