"""`uwf plugin install` and `uwf plugin uninstall`, by the installer that owns this environment."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.error_report import redacted
from uwf_core.cli.plugin import installed, visible
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import InstallError, UsageError
from uwf_core.plugins.scan import origin_of

if TYPE_CHECKING:
    from uwf_core.plugins.installer import Documents
    from uwf_core.plugins.repair import Command

_DRY_RUN = click.option("--dry-run", is_flag=True, help="Print the command; run nothing.")


@command(
    "install",
    "uwf plugin install uwf-agent-hermes",
    "uwf plugin install ./my_plugin-1.0-py3-none-any.whl",
    "uwf plugin install --upgrade 'uwf-agent-builtin>=0.2'",
    logged=True,
)
@click.argument("requirements", metavar="DIST...", nargs=-1, required=True)
@click.option("--upgrade", is_flag=True, help="Upgrade to the newest compatible version.")
@_DRY_RUN
def install(session: Session, requirements: Sequence[str], upgrade: bool, dry_run: bool) -> None:
    """Install plugins with the installer of this uwf: pip, uv, uv tool or pipx.

    DIST is a requirement: a name, name==1.2, name[extra], a path to a wheel or folder, or a URL. A
    plugin runs with all your rights: install only what you trust.
    """
    from uwf_core.plugins.installer import known_method, requirement_of
    from uwf_core.plugins.repair import install_command

    wanted = [requirement_of(each, session.engine.cwd) for each in requirements]
    _run(session, install_command(wanted, known_method(), upgrade=upgrade), dry_run)


@command("uninstall", "uwf plugin uninstall uwf-agent-hermes", logged=True)
@click.argument("names", metavar="DIST...", nargs=-1, required=True)
@_DRY_RUN
def uninstall(session: Session, names: Sequence[str], dry_run: bool) -> None:
    """Uninstall plugins with the installer of this uwf; asks nothing.

    DIST is the name of a distribution, or of a plugin that only one distribution has.
    """
    from uwf_core.plugins.installer import check_removable, known_method
    from uwf_core.plugins.repair import uninstall_command

    method = known_method()
    wanted = [*dict.fromkeys(_distribution(session, each) for each in names)]
    for each in wanted:
        check_removable(each, method)
    _run(session, uninstall_command(wanted, method), dry_run, wanted)


def _distribution(session: Session, word: str) -> str:
    from uwf_core.plugins.installer import requirement_of
    from uwf_core.plugins.scan import normalised, printable

    plugins = [each.found for each in installed(session.engine.plugins, word)]
    found = {each.distribution for each in plugins if not each.file}
    if not found:
        file = printable(plugins[0].file)
        raise UsageError(f"{word!r} is a file of a project", where=file, hint="remove the file")
    by_name = [each for each in found if normalised(each) == normalised(word)]
    if not by_name and len(found) > 1:
        names = sorted(found)
        raise UsageError(
            f"{word!r} is a plugin of {' and of '.join(names)}",
            hint=f"name one of them: uwf plugin uninstall {names[0]}",
        )
    return requirement_of((by_name or [*found])[0], "")


def _run(session: Session, words: "Command", dry_run: bool, removed: Sequence[str] = ()) -> None:
    """Run the installer; print which plugins differ then. `removed` may not be there any more."""
    from uwf_core.plugins.installer import plugin_changes, plugins_now, run_installer

    document: dict[str, Any] = {"command": list(words), "dryRun": dry_run, "plugins": []}
    if dry_run:
        session.emit(document, lambda each, _: shlex.join(each["command"]))
        return
    from uwf_core.views.installed import plugin_rows

    before = plugin_rows(session.engine.plugins, all_=True)
    _note(session, f"running: {shlex.join(words)}")
    run_installer(words, session.env, lambda line: _note(session, line))
    after = plugins_now(session.env, session.engine.cwd)
    _check_removed(after, removed)
    session.emit(document | {"plugins": plugin_changes(before, after)}, _text)


def _note(session: Session, line: str) -> None:
    session.note(redacted(session, line))


def _check_removed(plugins: "Documents", removed: Sequence[str]) -> None:
    from uwf_core.plugins.describe import describe

    for name in removed:
        if any(each["distribution"] == name for each in plugins):
            place = describe(name)
            raise InstallError(
                f"{name} is still installed",
                where=place and place["location"],
                hint="it is outside of this environment, or another distribution requires it",
            )


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    lines = [line for each in document["plugins"] for line in _lines(each, screen)]
    return "\n".join([*lines, *_next(document["plugins"])]) or "no plugin was added or changed"


def _lines(each: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    group = each["group"].removeprefix("uwf.")
    line = f"{each['change']}: {group} {visible(each['name'])} "
    line += f"({origin_of(each['distribution'], each['version'])})"
    if each["change"] == "removed":
        yield line
        return
    yield f"{line}: {screen.status(each['status'])}"
    if each["reason"]:
        yield f"  {each['reason']}"


def _next(plugins: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The command that checks the new plugins of each distribution."""
    names: dict[str, list[str]] = {}
    for each in plugins:
        if each["change"] != "removed":
            names.setdefault(each["distribution"], []).append(each["name"])
    for distribution, found in names.items():
        yield f"next: uwf plugin check {found[0] if len(found) == 1 else distribution}"
