"""The plugins of this installation: their status, and loading the one that is needed."""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from uwf_core.errors import PluginBroken, PluginError, UwfError
from uwf_core.plugins.guards import (
    PluginGuard,
    interruptible,
    keeps_descriptors,
    load_marker,
    stays_one_process,
)
from uwf_core.plugins.scan import (
    AGENTS,
    COMMANDS,
    EVAL_TASKS,
    EVERY,
    EXPORTERS,
    EXTRACTORS,
    GROUPS,
    IMPORTERS,
    JUDGES,
    MODELS,
    OBSERVERS,
    OPERATIONS,
    STORES,
    TOOLS,
    EntryPoint,
    normalised,
    scan,
)
from uwf_core.plugins.status import Plugin, Status, assess, blocks

if TYPE_CHECKING:
    import pluggy

    from uwf_core.plugins.loading import Trace
    from uwf_core.plugins.observers import Observers

NOUNS = {
    AGENTS: "agent",
    STORES: "store",
    EXTRACTORS: "extractor",
    JUDGES: "judge",
    TOOLS: "tool",
    EXPORTERS: "exporter",
    IMPORTERS: "importer",
    MODELS: "model protocol",
    OBSERVERS: "observer",
    COMMANDS: "command",
    OPERATIONS: "table of operations",
    EVAL_TASKS: "evaluation task",
}
TRACE_VARIABLE = "UWF_TRACE_PLUGINS"
_LAST_REASONS = {Status.BLOCKED: 1, Status.SHADOWED: 2, Status.UNTRUSTED: 3}


class Plugins:
    """The plugins of this installation, scanned and imported only when needed.

    Args:
        blocked: names of plugins or distributions that are never imported, also each with its
            place in the configuration.
        installed: of `scan(EVERY)`; None: they are scanned when they are needed.
        project: the plugins of the project, of `scan_project`.
        home: the folder for markers of running imports; None: no markers.
        trace: gets a line for each hook call; see `stderr_trace`.
    """

    def __init__(
        self,
        blocked: Collection[str] = (),
        *,
        installed: Sequence[EntryPoint] | None = None,
        project: Sequence[EntryPoint] = (),
        home: str | None = None,
        trace: "Trace | None" = None,
    ) -> None:
        self.guard = PluginGuard()
        self._blocked = blocked if isinstance(blocked, Mapping) else dict.fromkeys(blocked, "")
        self._installed = installed
        self._project = project
        self._home = home
        self._trace = trace
        self._assessed: list[Plugin] | None = None
        self._broken: dict[EntryPoint, PluginBroken] = {}
        self._loaded: dict[tuple[str, str], tuple[Any, ...]] = {}
        self._attributes: dict[tuple[EntryPoint, str], Any] = {}

    def list(self, groups: Collection[str] = GROUPS) -> list[Plugin]:
        """The plugins of `groups` with their status, sorted by group and name."""
        if self._assessed is None:
            known = [each for each in self._scanned() if each.group in GROUPS]
            found = sorted([*known, *self._project], key=lambda each: (each.group, each.name))
            self._assessed = assess(found, self._blocked)
        chosen = [plugin for plugin in self._assessed if plugin.found.group in groups]
        return [self._as_loaded(each) for each in chosen] if self._broken else chosen

    def _scanned(self) -> Sequence[EntryPoint]:
        """The entry points of every group, scanned once."""
        if self._installed is None:
            self._installed = scan(EVERY)
        return self._installed

    def _as_loaded(self, plugin: Plugin) -> Plugin:
        error = self._broken.get(plugin.found)
        return plugin if error is None else Plugin(plugin.found, Status.BROKEN, error.message)

    def unknown_groups(self) -> Sequence[Plugin]:
        """The entry points of groups that uwf does not have."""
        unknown = [each for each in self._scanned() if each.group not in GROUPS]
        return [Plugin(found, Status.BROKEN, _no_group(found.group)) for found in unknown]

    def misplaced(self) -> Sequence[Plugin]:
        """The files of the project that are not in the folder of a group."""
        return assess([each for each in self._project if each.group not in GROUPS], self._blocked)

    def named(self, word: str) -> Sequence[Plugin]:
        """All plugins of that name, or of the distribution of that name.

        Raises:
            PluginError: there is none; the hint has similar names.
        """
        plugins = [*self.list(), *self.unknown_groups(), *self.misplaced()]
        wanted = normalised(word)
        found = [
            plugin
            for plugin in plugins
            if plugin.found.name == word or normalised(plugin.found.distribution) == wanted
        ]
        if not found:
            known = [plugin.found.name for plugin in plugins]
            known += [plugin.found.distribution for plugin in plugins]
            raise _unknown(None, word, known)
        return found

    def found(self, group: str, name: str) -> EntryPoint:
        """The plugin that may be loaded by this name.

        Raises:
            PluginError: it is unknown, blocked, incompatible or claimed twice.
            PluginBroken: it can never be loaded, or failed before.
        """
        plugins = self.list((group,))
        candidates = [plugin for plugin in plugins if plugin.found.name == name]
        ready = [plugin for plugin in candidates if plugin.status is Status.READY]
        if ready:
            return ready[0].found
        if not candidates:
            raise _unknown(group, name, [plugin.found.name for plugin in plugins])
        # A blocked claimant is not the reason why the other one is not ready, nor is one whose
        # name is reserved.
        raise self.refusal(min(candidates, key=lambda each: _LAST_REASONS.get(each.status, 0)))

    def refusal(self, plugin: Plugin) -> PluginError | PluginBroken:
        """The error for a plugin that is not ready."""
        if plugin.status is Status.BROKEN:
            from uwf_core.plugins.loading import broken

            return self._broken.get(plugin.found) or broken(plugin.found, plugin.reason)
        return _not_ready(plugin, self._blocked)

    def load(self, group: str, name: str) -> tuple[Any, ...]:
        """The records that the hook of this plugin returns; one has this name.

        Raises:
            PluginError: as `found`, or its records are for another version of the contract.
            PluginBroken: it raises, exits, misspells a hook or returns other records.
        """
        from uwf_core.plugins.loading import manager_of, records_of

        records = self._loaded.get((group, name))
        if records is None:
            found = self.found(group, name)
            with self._loading(found):
                records = records_of(found, manager_of(found, self._trace))
            self._loaded[group, name] = records
        return records

    def record(self, group: str, name: str) -> Any:
        """The record of `load` with this name: an `AgentSpec`, a `StoreSpec`, …"""
        return next(record for record in self.load(group, name) if record.name == name)

    def attribute(self, group: str, name: str, path: str) -> Any:
        """Import a `module:attribute` of a record, such as its factory or options.

        Raises:
            PluginError: as `found`.
            PluginBroken: it cannot be imported, or does not exist.
        """
        from uwf_core.plugins.loading import attribute

        found = self.found(group, name)
        if (found, path) not in self._attributes:
            with self._loading(found):
                self._attributes[found, path] = attribute(found, path)
        return self._attributes[found, path]

    def made(self, group: str, name: str, *arguments: Any, call: str) -> Any:
        """What the factory of a record gives for these arguments; it allows the `call`, such as
        `judge(request)`.

        Raises:
            PluginError, PluginBroken: as `attribute`; or the factory fails, or gives something
                else. UwfError: as the factory raised it.
        """
        from uwf_core.plugins.loading import broken, cause_of

        found, factory = self.found(group, name), self.record(group, name).factory
        make = self.attribute(group, name, factory)
        try:
            with self.guard:
                made = make(*arguments)
        except (KeyboardInterrupt, UwfError):
            raise
        except BaseException as fault:
            raise broken(found, f"its factory failed: {cause_of(fault)}") from fault
        if not callable(getattr(made, call.partition("(")[0], None)):
            raise broken(found, f"its factory returned {type(made).__name__}, which has no {call}")
        return made

    def command(self, name: str) -> Any:
        """The click command that a plugin of `uwf.commands` adds.

        Raises:
            PluginError: as `found`.
            PluginBroken: it cannot be imported, or is not a click command.
        """
        import click

        from uwf_core.plugins.loading import broken

        found = self.found(COMMANDS, name)
        command = self.attribute(COMMANDS, name, found.target)
        if not isinstance(command, click.Command):
            raise broken(found, f"{found.target.rpartition(':')[2]!r} is not a click command")
        return command

    def observers(
        self, on_fault: Callable[[str], None], seconds: float, order: Sequence[str] = ()
    ) -> "Observers | None":
        """All observers that can be loaded, None if none is installed.

        Args:
            on_fault: gets one line for each that fails, now or later.
            seconds: the time limit of a run; an import or a hook call gets no more.
            order: the names of those that come first; the others follow by name.
        """
        if not (installed := self.list((OBSERVERS,))):
            return None
        from uwf_core.plugins.observers import OBSERVER_SECONDS, Observer, Observers

        seconds, ready = min(seconds, OBSERVER_SECONDS), list[EntryPoint]()
        for plugin in installed:
            if plugin.status is Status.READY:
                ready.append(plugin.found)
            elif plugin.status is not Status.BLOCKED:
                on_fault(f"the observer {plugin.found} is {plugin.status.value}: {plugin.reason}")
        ready.sort(key=lambda found: order.index(found.name) if found.name in order else len(order))
        return Observers(
            Observer(found, partial(self._manager, found), self.guard, seconds, on_fault)
            for found in ready
        )

    def _manager(self, found: EntryPoint) -> "pluggy.PluginManager":
        from uwf_core.plugins.loading import manager_of

        with self._loading(found):
            return manager_of(found, self._trace)

    @contextmanager
    def _loading(self, found: EntryPoint) -> Iterator[None]:
        """Run plugin code: keep a marker and our stdout clean, and remember a failure."""
        try:
            with (
                interruptible(found),
                load_marker(self._home, found),
                self.guard,
                keeps_descriptors(found),
                stays_one_process(found),
            ):
                yield
        except PluginBroken as error:
            self._broken[found] = error
            raise


def _no_group(group: str) -> str:
    import difflib

    near = difflib.get_close_matches(group, GROUPS, n=1)
    meant = f"did you mean {near[0]}?" if near else f"groups: {', '.join(GROUPS)}"
    return f"unknown group {group!r}; {meant}"


def _unknown(group: str | None, name: str, known: list[str]) -> PluginError:
    from uwf_core.plugins.family import check_installed, near_hint  # for errors only

    noun = "plugin" if group is None else NOUNS[group]
    if group is not None:
        check_installed(f"the {noun} {name!r}", group, name)
    near = near_hint(name, known, GROUPS if group is None else (group,))
    hint = near or f"installed: {', '.join(sorted(set(known))) or 'none'}"
    return PluginError(f"unknown {noun} {name!r}", hint=hint)


def _not_ready(plugin: Plugin, blocked: Mapping[str, str]) -> PluginError:
    from uwf_core.plugins.loading import incompatible

    if plugin.status is Status.INCOMPATIBLE:
        return incompatible(plugin.found, plugin.reason)
    noun, name = NOUNS[plugin.found.group], plugin.found.name
    if plugin.status is Status.DUPLICATE:
        return PluginError(
            f"the {noun} {name!r} is {plugin.reason}",
            hint="block one of them: "
            f"uwf config set --add plugins.block {plugin.found.distribution}",
        )
    origin = plugin.found.origin
    if plugin.status is Status.UNTRUSTED:
        return PluginError(
            f"the {noun} {name!r} ({origin}) cannot be loaded: its project is not trusted",
            hint=f"if you trust it: uwf config trust {plugin.found.untrusted}",
        )
    if plugin.status is Status.SHADOWED:
        return PluginError(
            f"the {noun} {name!r} ({origin}) is shadowed: {plugin.reason}",
            hint=f"block it: uwf config set --add plugins.block {plugin.found.distribution}",
        )
    word = name if name in blocked else plugin.found.distribution
    by = next(each for each in blocked if blocks(each, plugin.found))
    return PluginError(
        f"the {noun} {name!r} ({origin}) is blocked",
        hint=f"remove {by!r} from the environment variable {blocked[by]}"
        if blocked[by].startswith("UWF_")
        else f"next: uwf config set --remove plugins.block {word}",
    )


def stderr_trace(
    environment: Mapping[str, str], redact: Callable[[str], str]
) -> Callable[[str], None] | None:
    """The trace that the environment requests: every hook call with arguments, result and time,
    on stderr. None if it requests none.

    `redact` removes secrets from a line before it is printed.
    """
    if environment.get(TRACE_VARIABLE, "") in ("", "0"):
        return None

    def write(line: str) -> None:
        print(f"uwf plugins: {redact(line)}", file=sys.stderr, flush=True)

    return write
