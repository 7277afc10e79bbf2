"""Import one plugin and call its hook; report every error as the plugin's."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.errors import PluginBroken, PluginError, RunInterrupted
from uwf_core.plugins.scan import (
    AGENTS,
    CORE,
    EXPORTERS,
    EXTRACTORS,
    IMPORTERS,
    JUDGES,
    MODELS,
    STORES,
    TOOLS,
    EntryPoint,
    printable,
)
from uwf_core.plugins.status import api_problem

if TYPE_CHECKING:
    import pluggy

Trace = Callable[[str], None]
"""Takes one line for each hook call."""

loaded_third_party: set[str] = set()
"""The plugins whose code was imported here: they may leave files or threads open."""

_LONGEST_CAUSE = 300


class _Announcement(NamedTuple):
    """The result of a group's hook: records of `record` (a name in `module`), for version `api`."""

    hook: str
    module: str
    record: str
    api: str


ANNOUNCEMENTS: Mapping[str, _Announcement] = {
    AGENTS: _Announcement("uwf_agents", "uwf_core.api.agent", "AgentSpec", "API_VERSION"),
    STORES: _Announcement("uwf_stores", "uwf_core.api.store", "StoreSpec", "STORE_API_VERSION"),
    EXTRACTORS: _Announcement(
        "uwf_extractors", "uwf_core.api.extract", "ExtractorSpec", "API_VERSION"
    ),
    JUDGES: _Announcement("uwf_judges", "uwf_core.api.judge", "JudgeSpec", "API_VERSION"),
    TOOLS: _Announcement("uwf_tools", "uwf_core.api.tool", "ToolSpec", "API_VERSION"),
    EXPORTERS: _Announcement(
        "uwf_exporters", "uwf_core.api.exporters", "ExporterSpec", "API_VERSION"
    ),
    IMPORTERS: _Announcement(
        "uwf_importers", "uwf_core.api.importers", "ImporterSpec", "API_VERSION"
    ),
    MODELS: _Announcement("uwf_models", "uwf_core.api.models", "ModelProtocolSpec", "API_VERSION"),
}


def broken(found: EntryPoint, cause: str) -> PluginBroken:
    """The error for a plugin that cannot be loaded, with the command that repairs it."""
    return PluginBroken(
        f"the plugin {found.name!r} ({found.origin}) is broken: {cause}",
        hint=cure(found),
    )


def name_to_type(found: EntryPoint) -> str:
    """A name for commands and settings: the distribution's if its own may be invalid."""
    return found.distribution if found.defect else found.name


def cure(found: EntryPoint) -> str:
    """A hint for a broken plugin."""
    from uwf_core.plugins.repair import repair_line  # for errors only

    repair = f"repair it: {repair_line(found.distribution)}"
    return (
        f"{f'correct {printable(found.file)}' if found.file else repair}; "
        f"or block it: uwf config set --add plugins.block {name_to_type(found)}"
    )


class plugin_code(AbstractContextManager[None]):  # noqa: N801 (reads like a statement)
    """Convert every error of plugin code to `PluginBroken`, except those that end the command."""

    def __init__(self, found: EntryPoint, doing: str) -> None:
        self._found = found
        self._doing = doing

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if error is None or isinstance(
            error, (KeyboardInterrupt, RunInterrupted, PluginBroken, PluginError)
        ):
            return
        raise broken(self._found, f"{self._doing}: {cause_of(error)}") from error


def cause_of(error: BaseException) -> str:
    """An exception in one line."""
    if isinstance(error, SystemExit):
        return f"it called exit({error.code!r})"
    text = " ".join(str(error).split())
    if len(text) > _LONGEST_CAUSE:
        text = text[:_LONGEST_CAUSE] + "…"
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def attribute(found: EntryPoint, path: str) -> Any:
    """Import `module` or `module:attribute`; the module of a project plugin from its file.

    Raises:
        PluginBroken: it cannot be imported, or has no such attribute.
    """
    module_name, _, attributes = path.partition(":")
    own = found.target.partition(":")[0] if found.file else ""
    with plugin_code(found, f"importing {path.replace(own, found.origin) if own else path!r}"):
        if not module_name:
            raise broken(found, f"{path!r} has no module")
        if found.distribution != CORE:
            loaded_third_party.add(found.distribution)
        value: Any = _module_for_project(found, own, path) if own else import_module(module_name)
        for name in filter(None, attributes.split(".")):
            if own and not hasattr(value, name):
                raise broken(found, f"it has no {name!r}")
            value = getattr(value, name)
        return value


def _module_for_project(found: EntryPoint, own: str, path: str) -> Any:
    """The module of `path`; `own` is the one of the file."""
    from uwf_core.plugins.project_plugins import UnsafePlugin, import_file

    try:
        import_file(found.file, own)
    except UnsafePlugin as error:
        raise broken(found, str(error)) from error
    name, _, attributes = path.partition(":")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        cause = (
            f'{path!r} is not installed; for a name in its file write f"{{__name__}}:{attributes}"'
        )
        raise broken(found, cause) from error


def manager_of(found: EntryPoint, trace: Trace | None = None) -> "pluggy.PluginManager":
    """Import the plugin and register it with a separate pluggy manager.

    Raises:
        PluginBroken: it cannot be imported; a hook is misspelt or has wrong arguments.
    """
    import pluggy

    from uwf_core.api import hookspecs

    plugin = attribute(found, found.target)
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    with plugin_code(found, "its hooks are invalid"):
        manager.register(plugin, found.name)
        manager.check_pending()
    if not manager.get_hookcallers(plugin):
        where = "it" if found.file else found.target
        raise broken(found, f"{where} implements no hook of uwf; check its @hookimpl")
    if trace is not None:
        _monitor(manager, found, trace)
    return manager


def hooks_of(manager: "pluggy.PluginManager") -> list[str]:
    """The names of the hooks that the plugin of a manager implements, sorted."""
    return sorted(
        caller.name
        for plugin in manager.get_plugins()
        for caller in manager.get_hookcallers(plugin) or ()
    )


def records_of(found: EntryPoint, manager: "pluggy.PluginManager") -> tuple[Any, ...]:
    """The records that the hook of the plugin returns; one has its name.

    Raises:
        PluginBroken: the hook returns nothing, another type, or no record of that name.
        PluginError: a record is written for another version of the contract.
    """
    announcement = ANNOUNCEMENTS[found.group]
    contract = import_module(announcement.module)
    with plugin_code(found, announcement.hook):
        answers = getattr(manager.hook, announcement.hook)()
        records = tuple(record for answer in answers for record in _listed(answer))
    for record in records:
        _check_record(found, record, getattr(contract, announcement.record), announcement)
        problem = api_problem(record.api, getattr(contract, announcement.api))
        if problem is not None:
            raise incompatible(found, problem)
        _check_capabilities(found, record, getattr(contract, "CAPABILITIES", frozenset()))
    if not any(record.name == found.name for record in records):
        given = ", ".join(repr(record.name) for record in records) or "nothing"
        raise broken(found, f"{announcement.hook} returned {given}, not {found.name!r}")
    return records


def incompatible(found: EntryPoint, problem: str) -> PluginError:
    """A plugin that is incompatible with this uwf-core."""
    from uwf_core.plugins.repair import fit_line  # for errors only

    return PluginError(
        f"the plugin {found.name!r} ({found.origin}) is incompatible: {problem}",
        hint=f"install compatible versions: {fit_line(CORE if found.file else found.distribution)}",
    )


def _listed(answer: Any) -> Sequence[Any]:
    # A record may be a tuple itself, so only plain lists and tuples are lists of records.
    return answer if type(answer) in (list, tuple) else (answer,)


def _check_record(found: EntryPoint, record: Any, kind: type, announcement: _Announcement) -> None:
    if not isinstance(record, kind):
        text = repr(record)[:_LONGEST_CAUSE]
        raise broken(found, f"{announcement.hook} returned {text}, not {announcement.record}")
    fields: Any = record
    for field in ("name", "factory", "summary", "description", "suffix"):
        if not isinstance(getattr(fields, field, ""), str):
            raise broken(found, f"the {field} of its {announcement.record} is not text")
    for field in ("factory", "options"):
        path = getattr(fields, field, None)
        if path is not None and not (isinstance(path, str) and ":" in path):
            raise broken(found, f"its {field} {path!r} is not of the form 'module:attribute'")
    if not _are_words(getattr(fields, "capabilities", ())):
        raise broken(found, f"its capabilities {fields.capabilities!r} are not a set of texts")


def _check_capabilities(found: EntryPoint, record: Any, known: frozenset[str]) -> None:
    unknown = sorted(set(getattr(record, "capabilities", ())) - known)
    if unknown:
        words = ", ".join(map(repr, unknown))
        raise broken(found, f"unknown capability {words}; known are {', '.join(sorted(known))}")


def _are_words(value: Any) -> bool:
    kind = isinstance(value, set | frozenset | list | tuple)
    return kind and all(isinstance(each, str) for each in value)


def _monitor(manager: "pluggy.PluginManager", found: EntryPoint, trace: Trace) -> None:
    """One line on `trace` for each hook call: arguments, result or error, milliseconds."""
    started: list[float] = []

    def before(_hook: str, _implementations: Any, _arguments: Any) -> None:
        started.append(time.perf_counter())

    def after(outcome: Any, hook: str, _implementations: Any, arguments: Any) -> None:
        milliseconds = (time.perf_counter() - started.pop()) * 1000
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        if outcome.exception is None:
            result = repr(outcome.get_result())
        else:
            result = f"raises {cause_of(outcome.exception)}"
        trace(f"{found}: {hook}({given}) -> {result} in {milliseconds:.2f} ms")

    manager.add_hookcall_monitoring(before, after)
