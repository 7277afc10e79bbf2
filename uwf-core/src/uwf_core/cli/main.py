"""The entry point: parse the arguments, call the command, return an exit code; no traceback."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import click

from uwf_core import __version__
from uwf_core.cli.command import write_examples, write_lines
from uwf_core.cli.error_report import LoggedCall, explain, report, write_log
from uwf_core.cli.operation import Group
from uwf_core.cli.session import Session, now_ms
from uwf_core.cli.shutdown import leave, raise_on_signals, send_notices
from uwf_core.errors import AgentStuck, ExitCode, UsageError
from uwf_core.operations.rows import Entry, Noun, own_commands
from uwf_core.process.folders import is_utf8

if TYPE_CHECKING:
    from uwf_core.plugins.scan import EntryPoint

_STDERR = 2
EXIT_CODES = (
    "0   done",
    "1   the run failed",
    "2   usage, unknown id, wrong state",
    "3   suspended: waits for a person",
    "4   invalid definition or output",
    "5   limit reached",
    "6   agent failure",
    "75  busy, or timed out",
    "130 interrupted",
)
EXAMPLES = (
    "uwf demo",
    "uwf setup",
    "uwf workflow new .workflow/fix-bug.yaml --from fix-bug",
    'uwf run fix-bug -p "The total is off by one"',
    "uwf thread show @last",
    "uwf prompt bootstrap",
)

ELSEWHERE = {
    "help": "uwf --help",
    "version": "uwf --version",
    "status": "uwf thread list",
    "ls": "uwf thread list",
    "ps": "uwf thread list --status running",
    "logs": "uwf log list",
    "init": "uwf workflow new NAME",
}
"""Commands that other programs have at their top, and what does that here."""
_NOUNS = 3
"""So many commands are suggested."""


class Root(Group):
    """The command `uwf`, with the commands of plugins after its own."""

    def __init__(self) -> None:
        own = own_commands()
        super().__init__("uwf", (), own)
        self.sections = own.sections
        self.params.append(
            click.Option(
                ("-V", "--version"), is_flag=True, is_eager=True, expose_value=False,
                callback=_print_version, help="Print the version.",
            )
        )  # fmt: skip

    @cached_property
    def installed(self) -> "Sequence[EntryPoint]":
        """The entry points of plugins, scanned once."""
        from uwf_core.plugins.scan import EVERY, scan

        return scan(EVERY)

    @cached_property
    def of_tables(self) -> "Mapping[str, Entry]":
        """The commands that the tables of plugins add, with those of `uwf.commands`."""
        from uwf_core.operations.plugin_rows import plugin_operations

        return plugin_operations((), self.installed)

    @cached_property
    def of_plugins(self) -> "Mapping[str, Sequence[EntryPoint]]":
        """The commands of plugins by name."""
        from uwf_core.cli.plugin_commands import plugin_commands

        return plugin_commands({*self.rows, *self.of_tables}, self.installed)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Our own commands, then those of plugins."""
        return [*super().list_commands(ctx), *self.of_plugins]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for, then those of other plugins."""
        known = self.list_commands(ctx)
        width = max(map(len, known))
        for title, names in self.sections.items():
            lines = [(each, self.help_of(each)) for each in names if each in known]
            _write_section(formatter, title, lines, width)
        listed = {each for names in self.sections.values() for each in names}
        others = [(each, self.help_of(each)) for each in known if each not in listed]
        _write_section(formatter, "Of plugins", others, width)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Our own command of that name, else a plugin's."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name.startswith("-"):
            return own
        from uwf_core.cli.plugin_commands import load_plugin_command
        from uwf_core.plugins.family import check_installed
        from uwf_core.plugins.scan import COMMANDS as GROUP

        found = load_plugin_command(ctx.ensure_object(Session), cmd_name, self.installed)
        if found is None:
            check_installed(f"`uwf {cmd_name}`", GROUP, cmd_name)
        return found

    def suggest(self, ctx: click.Context, word: str) -> str | None:
        """Also suggest commands of nouns, and those of plugins that are not installed."""
        from uwf_core.plugins.family import near_hint
        from uwf_core.plugins.scan import COMMANDS as GROUP

        if word in ("install", "update", "upgrade"):
            from uwf_core.plugins.repair import install_line, repair_line

            line_of = install_line if word == "install" else repair_line
            return f"your installer does that: {line_of('DISTRIBUTION')}"
        if meant := self._said_elsewhere(word):
            return f"did you mean {' or '.join(meant)}?"
        return near_hint(word, self.list_commands(ctx), (GROUP,)) or super().suggest(ctx, word)

    def _said_elsewhere(self, word: str) -> list[str]:
        """The commands that this word is a part of, as `list` is of `thread list`, or means in
        other programs.
        """
        if word in ELSEWHERE:
            return [f"`{ELSEWHERE[word]}`"]
        return [f"`uwf {name} {word}`" for name in self.rows if self._has(name, word)][:_NOUNS]

    def _has(self, noun: str, word: str) -> bool:
        row = self.rows[noun]
        return isinstance(row, Noun) and word in row.rows

    def help_of(self, name: str) -> str:
        """A command's help line; for a plugin's, the first line of its help."""
        if name in self.rows or name in self.of_tables:
            return super().help_of(name)
        from uwf_core.cli.plugin_commands import help_line

        return help_line(self.of_plugins[name][0])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples and the exit codes of every command."""
        write_examples(formatter, EXAMPLES, ctx)
        write_lines(formatter, "Exit codes", EXIT_CODES)


class TableGroup(Group):
    """A group of another distribution, as the `groups` of its table declare it, and its examples.
    `program`: its name as a separate command.

    Raises:
        OSError, ValueError: the table cannot be read. LookupError: it has no such group.
    """

    def __init__(self, name: str, package: str, examples: Sequence[str], program: str = "") -> None:
        from uwf_core.operations.plugin_rows import group_of

        super().__init__(program or name, (), group_of(package, name))
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples and the exit codes of every command."""
        write_examples(formatter, self.examples, ctx)
        write_lines(formatter, "Exit codes", EXIT_CODES)


def _write_section(
    formatter: click.HelpFormatter, title: str, lines: Sequence[tuple[str, str]], width: int
) -> None:
    """Write commands with their lines, below each other in all sections."""
    if lines:
        with formatter.section(title):
            formatter.write_dl([(f"{name:<{width}}", line) for name, line in lines])


def _print_version(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
    if value:
        context.ensure_object(Session).write(f"uwf {__version__}")
        context.exit()


def process(arguments: Sequence[str], make_root: Callable[[], Group] = Root) -> int:
    """Run `main` as the whole work of a process, which ends afterwards."""
    _fill_closed_streams()
    session = Session()
    code = main(arguments, session, make_root)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            number, signal.SIG_DFL
        )  # the result is printed; the interpreter would show a traceback
    if session.opened is not None and "plugins" in vars(session.opened):
        leave(session, code)
    return code


def main(
    arguments: Sequence[str],
    session: Session | None = None,
    make_root: Callable[[], Group] = Root,
) -> int:
    """Run `uwf`, or the command that `make_root` makes; return its exit code."""
    started_ms = now_ms()
    session = session or Session()
    raise_on_signals(session)
    error: BaseException | None = None
    try:
        code = _invoke(session, make_root(), arguments)
    except BaseException as problem:
        error = problem
        if not isinstance(problem, Exception):
            if not (session.interrupted or isinstance(problem, KeyboardInterrupt)):
                raise
            error = KeyboardInterrupt()  # jsonschema_rs makes a panic of one while it loads
        code = report(session, explain(error, session.plugin), error, arguments)
    try:
        if session.logged:
            write_log(session, LoggedCall(arguments, started_ms, code, error))
        if session.opened is not None:
            send_notices(session.opened)
        if not isinstance(error, AgentStuck):
            session.close()
    except (Exception, KeyboardInterrupt) as problem:
        code = code or report(session, explain(problem), problem, arguments)
    if isinstance(error, AgentStuck):
        _end_now(code)
    return code


def _fill_closed_streams() -> None:
    """Open the null device in place of a closed stdin, stdout or stderr: otherwise the
    store would get that number, and a library's output would be written into it.
    """
    while (free := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        continue
    os.close(free)


def _invoke(session: Session, root: Group, arguments: Sequence[str]) -> int:
    for place, word in enumerate(arguments, 1):
        if not is_utf8(word):
            raise UsageError(
                f"argument {place} is not valid UTF-8", hint="use file paths that are valid UTF-8"
            )
    width = min(max(session.screen.width, 40), 90)
    try:
        context = root.make_context(root.name, list(arguments), obj=session, terminal_width=width)
        with context:
            code = context.command.invoke(context)
    except click.exceptions.Exit as end:
        code = end.exit_code
    return code if isinstance(code, int) else ExitCode.DONE


def _end_now(code: int) -> NoReturn:
    """End the process although a thread is stuck."""
    if sys.stdout is not None:
        sys.stdout.flush()
    os._exit(code)
