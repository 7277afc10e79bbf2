"""The base of all commands: common options, examples, suggestions."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from uwf_core.cli.session import Session
from uwf_core.errors import UsageError

FORMATS = ("text", "json", "yaml")
COLOURS = ("auto", "always", "never")


def _remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that sets an attribute of the session; the innermost option wins."""

    def keep(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value:
            setattr(context.find_object(Session), name, value)

    return keep


def _show_help(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
    if value and not context.resilient_parsing:
        context.ensure_object(Session).write(context.get_help())
        context.exit()


def _keep_format(context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
    """Set the format of the report; another word is a name that the command resolves."""
    if value not in FORMATS:
        return value
    context.ensure_object(Session).chosen = value
    return None


def format_or_name(what: str, name: str) -> click.Option:
    """The option --format of a command that also takes the name of `what`, which gets it as
    `name`.
    """
    return click.Option(
        ["--format", name],
        is_eager=True,
        metavar=f"[{'|'.join(FORMATS)}|NAME]",
        callback=_keep_format,
        help=f"Output format (default: text on a terminal, else json), or the name of {what}.",
    )


def _everywhere(formats: Sequence[str] = FORMATS) -> tuple[click.Parameter, ...]:
    """The options of every command and group, handled before all others. The help option is
    ours, since click's looks for translations, which takes longer than reading a store.
    """

    def option(*names: str, target: str, **settings: Any) -> click.Option:
        callback = _remember(target)
        return click.Option(names, is_eager=True, expose_value=False, callback=callback, **settings)

    return (
        option(
            "--format",
            target="chosen",
            type=click.Choice(formats),
            help="Output format (default: text on a terminal, else json).",
        ),
        option(
            "--color",
            target="color",
            type=click.Choice(COLOURS),
            help="When to use colours (default: auto).",
        ),
        option("--debug", target="debug", is_flag=True, help="Show the traceback of an error."),
        click.Option(
            ("-h", "--help"),
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_help,
            help="Show this help.",
        ),
    )


OPTIONS: Final = _everywhere()
"""One set for all commands: a parameter keeps no state of a call."""


class Command(click.Command):
    """A command: its callback gets the session first and returns the exit code (None: 0).

    `document`, `logged` and `formats` are as in `command`.
    """

    def __init__(
        self,
        *,
        examples: Sequence[str],
        document: bool,
        logged: bool,
        formats: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        super().__init__(add_help_option=False, **settings)
        common = _everywhere((*FORMATS, *formats)) if formats else OPTIONS
        own = {name for each in self.params for name in each.opts}
        self.params += [each for each in common if own.isdisjoint(each.opts)]
        self.examples = examples
        self.document = document
        self.logged = logged

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, after the session knows what kind of result to expect."""
        if session := ctx.find_object(Session):
            session.document = self.document
        words = list(args)  # the parser empties the list
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as missing:
            if isinstance(missing.param, click.Option):
                self._explain_bare_word(ctx, missing, missing.param.opts[0], words)
            raise

    def _explain_bare_word(
        self, ctx: click.Context, missing: click.MissingParameter, option: str, words: list[str]
    ) -> None:
        """`uwf run fix-bug 'the task'`: the text is there, and its option is not."""
        bare = self.make_parser(ctx).parse_args(words)[1]
        if bare:
            from shlex import quote

            message = missing.format_message().rstrip(".")
            raise UsageError(
                message[:1].lower() + message[1:], hint=f"write `{option} {quote(bare[0])}`"
            ) from missing

    def invoke(self, ctx: click.Context) -> Any:
        """Call the callback with the session before the parameters."""
        assert self.callback is not None
        session = ctx.find_object(Session)
        if session:
            session.logged = self.logged
        return self.callback(session, **ctx.params)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the examples, which every command has."""
        write_examples(formatter, self.examples, ctx)


def command(
    name: str,
    *examples: str,
    document: bool = False,
    logged: bool = False,
    formats: Sequence[str] = (),
) -> Callable[[Callable[..., int | None]], Command]:
    """Make a command from a function.

    Args:
        name: what a user types.
        examples: whole command lines, shown by --help.
        document: the result is a text to read, printed unless another format is given.
        logged: it runs or changes something, so it gets an entry in the log.
        formats: further values of --format, which the command itself knows how to write.
    """

    def make(function: Callable[..., int | None]) -> Command:
        parameters = list(reversed(getattr(function, "__click_params__", [])))
        return Command(
            name=name,
            callback=function,
            params=parameters,
            help=function.__doc__,
            examples=examples,
            document=document,
            logged=logged,
            formats=formats,
        )

    return make


def near_miss(word: str, known: Sequence[str]) -> str | None:
    """Suggest the names that are similar to `word`."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else None


def write_examples(
    formatter: click.HelpFormatter, examples: Sequence[str], ctx: click.Context
) -> None:
    """Write the section of the examples. One of a plugin's program (`uwf-eval run`) is written as
    the command of uwf (`uwf eval run`) if it is called so.
    """
    lines = []
    for each in examples:
        program, _, rest = each.partition(" ")
        command = program.replace("-", " ", 1)
        as_called = f"{ctx.command_path} ".startswith(f"{command} ")
        lines.append(f"{command} {rest}" if as_called else each)
    write_lines(formatter, "Example" if len(lines) == 1 else "Examples", lines)


def write_lines(formatter: click.HelpFormatter, title: str, lines: Sequence[str]) -> None:
    """Write a section of lines without wrapping them."""
    formatter.write_paragraph()
    formatter.write(f"{title}:\n")
    for line in lines:
        formatter.write(f"  {line}\n")
