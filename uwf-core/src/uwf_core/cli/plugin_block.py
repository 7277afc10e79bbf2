"""`uwf plugin block` and `uwf plugin unblock`: edit `plugins.block` of your config.yaml."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import click

from uwf_core.cli.command import command
from uwf_core.cli.plugin import installed
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, PluginError
from uwf_core.plugins.status import blocks, means

if TYPE_CHECKING:
    from uwf_core.config.settings import Settings
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.status import Plugin


class Blocker(TypedDict):
    """A name that blocks a plugin, and the file or variable that has it."""

    name: str
    where: str


class BlockRow(TypedDict):
    """A name of the command line: whether config.yaml changed, and what blocks it now."""

    name: str
    changed: bool
    blockedBy: list[Blocker]


@command("block", "uwf plugin block mock", "uwf plugin block uwf-agent-hermes noisy-observer")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def block(session: Session, names: Sequence[str]) -> None:
    """Never load a plugin: add it to plugins.block of your config.yaml.

    NAME is the name of a plugin, or of a distribution to block all its plugins.
    """
    found = {word: installed(session.engine.plugins, word) for word in names}
    wanted = {_to_block(plugins, word): plugins for word, plugins in found.items()}
    before, after = _edit(
        session.engine,
        lambda old: [*old, *(each for each in wanted if not _count(old, each, wanted[each]))],
    )
    settings = session.reopened().settings
    rows = [_row(settings, each, wanted[each], before, after) for each in wanted]
    session.emit({"file": _file(session), "plugins": rows}, _blocked_text)


@command("unblock", "uwf plugin unblock mock")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def unblock(session: Session, names: Sequence[str]) -> int:
    """Stop blocking a plugin: remove it from plugins.block of your config.yaml.

    NAME is the name of a plugin or a distribution. Exit code 2 if something else still blocks it,
    such as UWF_BLOCK_PLUGINS.
    """
    wanted = {word: _installed(session.engine, word) for word in names}
    before, after = _edit(
        session.engine,
        lambda old: [each for each in old if not any(means(each, *one) for one in wanted.items())],
    )
    settings = session.reopened().settings
    rows = [_row(settings, each, wanted[each], before, after) for each in wanted]
    session.emit({"file": _file(session), "plugins": rows}, _unblocked_text)
    return ExitCode.USAGE if any(row["blockedBy"] for row in rows) else ExitCode.DONE


def _to_block(found: "Sequence[Plugin]", word: str) -> str:
    """The word if a plugin has that name, else the distribution's own spelling."""
    return word if any(each.found.name == word for each in found) else found[0].found.distribution


def _installed(engine: "Engine", word: str) -> "Sequence[Plugin]":
    """The plugins of that name; a word that is blocked may name none.

    Raises:
        PluginError: nothing has that name, and it is not blocked.
    """
    try:
        return installed(engine.plugins, word)
    except PluginError:
        if word in engine.settings.blocked:
            return ()
        raise


def _count(entries: Sequence[str], name: str, plugins: "Sequence[Plugin]") -> int:
    return sum(means(each, name, plugins) for each in entries)


def _edit(
    engine: "Engine", edit: Callable[[Sequence[str]], list[str]]
) -> tuple[Sequence[str], Sequence[str]]:
    """Edit plugins.block of the user's file; the list before and after."""
    from uwf_core.config.change import edit_value

    lists: list[Sequence[str]] = []

    def edited(old: Sequence[str] | None) -> Sequence[str]:
        lists.extend((old or [], edit(old or [])))
        return lists[1]

    edit_value(engine.home, ("plugins", "block"), edited)
    return lists[0], lists[1]


def _file(session: Session) -> str:
    from uwf_core.config.change import config_path

    return config_path(session.engine.home)


def _row(
    settings: "Settings",
    name: str,
    plugins: "Sequence[Plugin]",
    before: Sequence[str],
    after: Sequence[str],
) -> BlockRow:
    names = [
        each
        for each in settings.blocked
        if each == name or any(blocks(each, plugin.found) for plugin in plugins)
    ]
    return {
        "name": name,
        "changed": _count(before, name, plugins) != _count(after, name, plugins),
        "blockedBy": [
            {"name": each, "where": where}
            for each in names
            for where in _places(settings, each, after)
        ],
    }


def _places(settings: "Settings", name: str, own: Sequence[str]) -> Iterator[str]:
    """The file and the variable in which the name is blocked; `own` is the user's list."""
    from uwf_core.config.change import config_path
    from uwf_core.config.keys import BLOCK_VARIABLE
    from uwf_core.config.settings import names_in

    places = [config_path(settings.home)] if name in own else []
    if name in names_in(settings.environment.get(BLOCK_VARIABLE, "")):
        places.append(BLOCK_VARIABLE)
    elif not places and settings.project and settings.project.file:
        places.append(settings.project.file)
    return iter(places)


def _blocked_text(document: Mapping[str, Any], _screen: Screen) -> str:
    return "\n".join(
        f"{'blocked' if each['changed'] else 'already blocked'}: {each['name']}"
        for each in document["plugins"]
    )


def _unblocked_text(document: Mapping[str, Any], _screen: Screen) -> str:
    return "\n".join(
        line for each in document["plugins"] for line in _unblocked_lines(each, document["file"])
    )


def _unblocked_lines(row: Mapping[str, Any], file: str) -> Iterator[str]:
    for each in row["blockedBy"]:
        yield f"still blocked: {row['name']} (by {each['name']!r} in {each['where']})"
        if each["where"] == file:
            yield f"next: uwf plugin unblock {each['name']}"
    if not row["blockedBy"]:
        yield f"{'unblocked' if row['changed'] else 'not blocked'}: {row['name']}"
