"""Plugins as documents: the list, with the hooks that they implement, and the check of one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from uwf_core.maintenance.plugin_probe import Probe, Probes, failed, probe
from uwf_core.plugins.plugins import NOUNS
from uwf_core.plugins.status import NamedPlugin, PluginRow
from uwf_core.views import installed

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.describe import Installed
    from uwf_core.plugins.status import Plugin


def list_plugins(engine: "Engine", *, all: bool = False, hooks: bool = False) -> list[PluginRow]:
    """All plugins; with `hooks` those that are ready are loaded, in separate processes."""
    rows = installed.list_plugins(engine, all=all)
    if not hooks:
        return rows
    found = _hooks(engine)
    return [each | found.get(_key(each), {"hooks": None}) for each in rows]


_Key = tuple[str, str, str]


def _key(plugin: Mapping[str, Any]) -> _Key:
    return plugin["group"], plugin["name"], plugin["distribution"]


def _hooks(engine: "Engine") -> dict[_Key, Any]:
    """Hooks, status and reason of each plugin that is ready, after loading it."""
    ready = [each for each in engine.plugins.list() if each.status.value == "ready"]
    with Probes() as probes:
        answers = probes.start_all(engine, [each.found for each in ready])
        return {_key(each.document()): _loaded(answers[each.found]()) for each in ready}


def _loaded(answer: Probe) -> dict[str, Any]:
    status = "ready" if answer["reason"] is None else answer["status"] or "broken"
    return {"status": status, "reason": answer["reason"], "hooks": answer["hooks"]}


class CheckedPlugin(Probe, NamedPlugin):
    """The result of loading one plugin; `status` is the one after loading."""

    installed: "Installed | None"


class PluginsDocument(TypedDict):
    """The plugins of a name: whether all are ready, and whether none is broken."""

    name: str
    ready: bool
    sound: bool
    plugins: list[CheckedPlugin]


def check_plugins(engine: "Engine", name: str, timeout: float) -> PluginsDocument:
    """Load the plugins of a name in separate processes, and check whether they are ready."""
    plugins = [_checked(engine, each, timeout) for each in engine.plugins.named(name)]
    faults = any(check["state"] == "error" for each in plugins for check in each["checks"])
    return {
        "name": name,
        "ready": all(each["status"] == "ready" for each in plugins) and not faults,
        "sound": all(each["status"] != "broken" for each in plugins) and not faults,
        "plugins": plugins,
    }


def _checked(engine: "Engine", plugin: "Plugin", seconds: float) -> CheckedPlugin:
    from uwf_core.plugins.describe import describe

    found, status = plugin.found, plugin.status.value
    answer = probe(engine, found, seconds) if status == "ready" else _refused(engine, plugin)
    if status == "ready":
        status = _loaded(answer)["status"]
    return {
        **plugin.document(),
        **answer,
        "installed": None if found.file else describe(found.distribution),
        "status": status,
        "summary": answer["summary"] or found.summary or None,
    }


def _refused(engine: "Engine", plugin: "Plugin") -> Probe:
    """Why a plugin is not loaded, with a hint."""
    from uwf_core.plugins.repair import repair_line

    found = plugin.found
    if found.group not in NOUNS:
        repair = f"report it to its author, or {repair_line(found.distribution)}"
        return failed(plugin.reason, None if found.file else repair)
    error = engine.plugins.refusal(plugin)
    return failed(error.message, error.hint)
