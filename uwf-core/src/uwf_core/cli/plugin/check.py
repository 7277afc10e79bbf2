"""`uwf plugin check`."""

from typing import TYPE_CHECKING, TypedDict

import click

from uwf_core.cli.frame import command
from uwf_core.cli.probe import SECONDS, CheckDocument, Probe, failed, probe
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, PluginBroken, PluginError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.describe import Installed
    from uwf_core.plugins.plugins import Plugin


class Checked(TypedDict):
    """The result of loading one plugin; `status` is the one after loading."""

    name: str
    group: str
    distribution: str
    version: str
    installed: "Installed | None"
    status: str
    reason: str | None
    hint: str | None
    summary: str | None
    capabilities: list[str] | None
    checks: list[CheckDocument]


@command("check", "uwf plugin check mock", "uwf plugin check uwf-agent-hermes --timeout 5")
@click.argument("name", metavar="NAME")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for loading.",
)
def check(session: Session, name: str, timeout: float) -> int:
    """Load a plugin in a separate process and check whether it is ready.

    NAME is the name of a plugin or a distribution. Exit code 1 if it is broken or one of its checks
    fails, 2 if it is blocked, incompatible or claimed twice.
    """
    from uwf_core.cli.render.plugin import checked_text

    engine = session.engine
    plugins = [_checked(engine, each, timeout) for each in engine.plugins.named(name)]
    ready = all(each["status"] == "ready" for each in plugins)
    faults = any(check["state"] == "error" for each in plugins for check in each["checks"])
    document = {"name": name, "ready": ready and not faults, "plugins": plugins}
    session.emit(document, checked_text)
    if faults or any(each["status"] == "broken" for each in plugins):
        return ExitCode.FAILED
    return ExitCode.DONE if ready else ExitCode.USAGE


def _checked(engine: "Engine", plugin: "Plugin", seconds: float) -> Checked:
    from uwf_core.plugins.describe import describe

    found, status = plugin.found, plugin.status.value
    answer = probe(engine, found, seconds) if status == "ready" else _refused(engine, plugin)
    if status == "ready" and answer["problem"] is not None:
        status = answer["status"] or "broken"
    return {
        "name": found.name,
        "group": found.group,
        "distribution": found.distribution,
        "version": found.version,
        "installed": describe(found.distribution),
        "status": status,
        "reason": answer["problem"],
        "hint": answer["hint"],
        "summary": answer["summary"],
        "capabilities": answer["capabilities"],
        "checks": answer["checks"],
    }


def _refused(engine: "Engine", plugin: "Plugin") -> Probe:
    """Why a plugin is not loaded, with a hint."""
    from uwf_core.plugins.plugins import NOUNS, Status
    from uwf_core.plugins.repair import repair_line

    found = plugin.found
    if found.group not in NOUNS:
        return failed(
            plugin.reason, f"report it to its author, or {repair_line(found.distribution)}"
        )
    try:
        engine.plugins.found(found.group, found.name)
    except (PluginError, PluginBroken) as error:
        if plugin.status is not Status.BLOCKED:
            return failed(error.message, error.hint)
    return failed(
        plugin.reason,
        "remove it from plugins.block (uwf config get plugins.block) or UWF_BLOCK_PLUGINS",
    )
