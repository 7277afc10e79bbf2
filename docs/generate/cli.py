"""The page of every command, from the commands' own help."""

from collections.abc import Iterator

import click

from generate.tables import table
from uwf_core.cli.main import Root
from uwf_core.operations.rows import RETIRED

WIDTH = 92

INTRODUCTION = """\
# Commands

What `--help` says, for every command. Data goes to stdout, everything else to stderr; text on a
terminal, JSON otherwise, as `--format` says. THREAD and STEP may be a unique prefix of four
characters or more, or `@last`.
"""


def markdown() -> str:
    """The whole page."""
    root = Root()
    top = _context(root, "uwf", None)
    parts = [INTRODUCTION, _block(root, top)]
    for command, context in commands(root, top):
        level = "##" if isinstance(command, click.Group) else "###"
        level = "##" if context.command_path.count(" ") == 1 else level
        parts += [f"{level} {context.command_path}", _block(command, context)]
    retired = [(f"`uwf {' '.join(words)}`", f"`{now}`") for words, now in RETIRED.items()]
    parts += ["## Names of earlier systems", table(["there", "here"], retired)]
    return "\n\n".join(parts)


def commands(
    group: click.Group, context: click.Context
) -> Iterator[tuple[click.Command, click.Context]]:
    """Every command below `group`, a group before its commands, in the order of the table."""
    for name in sorted(group.list_commands(context), key=lambda each: _is_group(group, each)):
        command = group.get_command(context, name)
        assert command is not None, f"{context.command_path} {name} cannot be loaded"
        own = _context(command, name, context)
        yield command, own
        if isinstance(command, click.Group):
            yield from commands(command, own)


def _is_group(group: click.Group, name: str) -> bool:
    entry = getattr(group, "rows", {}).get(name)
    return hasattr(entry, "rows")


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command, parent, name, terminal_width=WIDTH, max_content_width=WIDTH, color=False
    )


def _block(command: click.Command, context: click.Context) -> str:
    return f"```text\n{command.get_help(context).rstrip()}\n```"
