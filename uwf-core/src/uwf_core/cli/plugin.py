"""`uwf plugin list` and `uwf plugin check`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from uwf_core.cli.command import near_miss
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.findings import check_lines
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, PluginError
from uwf_core.maintenance.plugin_probe import CheckDocument, Probe, Probes, failed, probe
from uwf_core.plugins.scan import origin_of, printable

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.describe import Installed
    from uwf_core.plugins.plugins import Plugins
    from uwf_core.plugins.status import Plugin


def list_(session: Session, all: bool, hooks: bool) -> None:
    """List all plugins, with their hooks if wanted."""
    from uwf_core.views.installed import list_plugins

    engine = session.engine
    rows = list_plugins(engine, all=all)
    if hooks:
        found = _hooks(engine)
        rows = [each | found.get(_key(each), {"hooks": None}) for each in rows]
    session.emit({"plugins": rows}, _hooks_text if hooks else _plugins_text)


_Key = tuple[str, str, str]


def _key(plugin: Mapping[str, Any]) -> _Key:
    return plugin["group"], plugin["name"], plugin["distribution"]


def _hooks(engine: "Engine") -> dict[_Key, dict[str, Any]]:
    """Hooks, status and reason of each plugin that is ready, after loading it."""
    ready = [each for each in engine.plugins.list() if each.status.value == "ready"]
    with Probes() as probes:
        answers = probes.start_all(engine, [each.found for each in ready])
        return {_key(each.document()): _loaded(answers[each.found]()) for each in ready}


def _loaded(answer: Probe) -> dict[str, Any]:
    status = "ready" if answer["problem"] is None else answer["status"] or "broken"
    return {"status": status, "reason": answer["problem"], "hooks": answer["hooks"]}


def _hooks_text(document: Mapping[str, Any], screen: Screen) -> str:
    rows = [{**each, "summary": None} for each in document["plugins"]]
    return f"{checked_text({'plugins': rows}, screen)}{_next(rows)}"


def _plugins_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = [
        Column("group", "GROUP", least=8, rank=3),
        Column("name", "NAME", least=14),
        Column("status", "STATUS", status=True),
        Column("distribution", "DISTRIBUTION", least=8, rank=2),
        Column("version", "VERSION", rank=4),
    ]
    if any(each["reason"] for each in document["plugins"]):
        columns.append(Column("reason", "REASON", least=10, rank=1))
    rows = [
        {**each, "name": visible(each["name"]), "reason": each["reason"] or ""}
        for each in document["plugins"]
    ]
    if not rows:
        return "no plugins"
    return f"{table(columns, rows, screen)}{_next(rows)}"


def _next(rows: Sequence[Mapping[str, Any]]) -> str:
    ready = all(each["status"] == "ready" for each in rows)
    return "" if ready else "\nnext: uwf plugin check NAME"


def visible(name: str) -> str:
    """A plugin's name, with what a terminal would not show escaped."""
    return name if name.isascii() and name.isprintable() else ascii(name)


def installed(plugins: "Plugins", word: str) -> "Sequence[Plugin]":
    """The plugins of that name, or of the distribution of that name.

    Raises:
        PluginError: there is none; unlike the hint of `Plugins.named`, this one suggests no
            installation.
    """
    try:
        return plugins.named(word)
    except PluginError as error:
        found = [each.found for each in plugins.list()]
        known = {each.name for each in found} | {each.distribution for each in found}
        hint = near_miss(word, sorted(known)) or "`uwf plugin list` lists the installed ones"
        raise PluginError(error.message, hint=hint) from error


class CheckedPlugin(TypedDict):
    """The result of loading one plugin; `status` is the one after loading."""

    name: str
    group: str
    distribution: str
    version: str | None
    file: str | None
    installed: "Installed | None"
    status: str
    reason: str | None
    hint: str | None
    summary: str | None
    capabilities: list[str] | None
    hooks: list[str] | None
    checks: list[CheckDocument]


def check(session: Session, name: str, timeout: float) -> int:
    """Load a plugin in a separate process and check whether it is ready."""
    engine = session.engine
    plugins = [_checked(engine, each, timeout) for each in engine.plugins.named(name)]
    ready = all(each["status"] == "ready" for each in plugins)
    faults = any(check["state"] == "error" for each in plugins for check in each["checks"])
    document = {"name": name, "ready": ready and not faults, "plugins": plugins}
    session.emit(document, checked_text)
    if faults or any(each["status"] == "broken" for each in plugins):
        return ExitCode.FAILED
    return ExitCode.DONE if ready else ExitCode.USAGE


def _checked(engine: "Engine", plugin: "Plugin", seconds: float) -> CheckedPlugin:
    from uwf_core.plugins.describe import describe

    found, status = plugin.found, plugin.status.value
    answer = probe(engine, found, seconds) if status == "ready" else _refused(engine, plugin)
    if status == "ready":
        status = _loaded(answer)["status"]
    return {
        "name": found.name,
        "group": found.group,
        "distribution": found.distribution,
        "version": found.version or None,
        "file": found.file or None,
        "installed": None if found.file else describe(found.distribution),
        "status": status,
        "reason": answer["problem"],
        "hint": answer["hint"],
        "summary": answer["summary"] or found.summary or None,
        "capabilities": answer["capabilities"],
        "hooks": answer["hooks"],
        "checks": answer["checks"],
    }


def _refused(engine: "Engine", plugin: "Plugin") -> Probe:
    """Why a plugin is not loaded, with a hint."""
    from uwf_core.plugins.plugins import NOUNS
    from uwf_core.plugins.repair import repair_line

    found = plugin.found
    if found.group not in NOUNS:
        repair = f"report it to its author, or {repair_line(found.distribution)}"
        return failed(plugin.reason, None if found.file else repair)
    error = engine.plugins.refusal(plugin)
    return failed(error.message, error.hint)


def checked_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`plugin check`: each plugin with its state, capabilities, hooks and hint."""
    return "\n".join(line for each in document["plugins"] for line in _checked_lines(each, screen))


def _checked_lines(each: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    from uwf_core.escape import one_line

    state = "ok" if each["status"] == "ready" else "error"
    group = each["group"].removeprefix("uwf.")
    origin = printable(each["file"] or origin_of(each["distribution"], each["version"]))
    yield f"{group} {each['name']} ({origin}): {screen.paint(each['status'], state)}"
    if each.get("installed"):
        yield f"  installed: {_installed_text(each['installed'])}"
    if each["summary"]:
        yield f"  {one_line(each['summary'])}"
    if each.get("capabilities"):
        yield f"  can: {', '.join(each['capabilities'])}"
    if each["hooks"]:
        yield f"  hooks: {', '.join(each['hooks'])}"
    if each["reason"]:
        yield f"  {each['reason']}"
    if each.get("hint"):
        yield f"  hint: {each['hint']}"
    yield from check_lines(each.get("checks", ()), screen)


def _installed_text(installed: Mapping[str, Any]) -> str:
    by = f" by {installed['installer']}" if installed["installer"] else ""
    return f"{installed['location']}{by}{', editable' if installed['editable'] else ''}"
