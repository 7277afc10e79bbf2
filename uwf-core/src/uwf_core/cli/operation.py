"""Lazy groups of commands, and the commands of operations: what they parse, call and print."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property, partial
from math import isfinite
from typing import Any, cast

import click

from uwf_core.cli.command import OPTIONS, Command, format_or_name, near_miss
from uwf_core.cli.session import Session, now_ms
from uwf_core.cli.shutdown import cancel_on_signals
from uwf_core.errors import ExitCode, UsageError
from uwf_core.fields.durations import seconds_of
from uwf_core.operations.rows import CONTEXT, RETIRED, Context, Entry, Noun, call, function_of


class Group(click.Group):
    """A group from the static table; a command's module is imported when it is called."""

    def __init__(self, name: str, path: tuple[str, ...], noun: Noun, **settings: Any) -> None:
        super().__init__(
            name=name, help=noun.help + ".", add_help_option=False, no_args_is_help=False,
            params=list(OPTIONS), subcommand_metavar="COMMAND", **settings,
        )  # fmt: skip
        self.path = path
        self.rows = noun.rows
        self.package = noun.package

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """The names of the table, in its order, and those that plugins add."""
        return list(dict.fromkeys((*self.rows, *self.of_tables)))

    @cached_property
    def of_tables(self) -> Mapping[str, Entry]:
        """The commands that the tables of plugins add to this group."""
        from uwf_core.operations.plugin_rows import plugin_operations

        return plugin_operations(self.path) if self.path else {}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        entry = self.rows.get(cmd_name) or self.of_tables.get(cmd_name)
        if entry is None:
            return None
        if isinstance(entry, Noun):
            return Group(cmd_name, (*self.path, cmd_name), entry)
        if entry.operation is not None and "plugin" in entry.operation:
            from uwf_core.plugins.scan import OPERATIONS

            session = ctx.ensure_object(Session)
            session.plugin = session.engine.plugins.found(OPERATIONS, entry.operation["plugin"])
        if entry.operation is not None and not entry.target:
            return command_of(cmd_name, entry.operation)
        target = entry.target if entry.operation else f"{self.package}.{entry.target}"
        return cast(click.Command, function_of(target))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help if no command is given; this is not an error."""
        rest = super().parse_args(ctx, args)
        if not rest and not ctx.resilient_parsing and not self.given(ctx):
            ctx.ensure_object(Session).write(ctx.get_help())
            ctx.exit()
        return rest

    @staticmethod
    def given(ctx: click.Context) -> bool:
        """Whether a command follows."""
        return bool(ctx._protected_args or ctx.args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command that `args` begin with; suggest similar names for unknown ones."""
        found = self.get_command(ctx, args[0])
        if found is not None:
            return args[0], found, args[1:]
        words = ctx.command_path
        from uwf_core.plugins.family import check_installed
        from uwf_core.plugins.scan import OPERATIONS

        check_installed(f"`{words} {args[0]}`", OPERATIONS, ".".join((*self.path, args[0])))
        if replacement := RETIRED.get((*self.path, args[0])):
            hint = f"use `{replacement}`" if replacement.startswith("uwf ") else replacement
            raise UsageError(f"`{words} {args[0]}` is no longer a command", hint=hint)
        raise UsageError(
            f"`{words}` has no command {args[0]!r}",
            hint=self.suggest(ctx, args[0]) or f"`{words} --help` lists them",
        )

    def suggest(self, ctx: click.Context, word: str) -> str | None:
        """Suggest a command for an unknown word."""
        return near_miss(word, self.list_commands(ctx))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands and their help lines without importing them."""
        lines = [(name, self.help_of(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(lines)

    def help_of(self, name: str) -> str:
        """A command's line of help."""
        return (self.rows.get(name) or self.of_tables[name]).help


def command_of(name: str, row: Mapping[str, Any]) -> Command:
    """The command of a row."""
    return Command(
        name=name,
        callback=partial(_invoke, row),
        params=[_parameter(each) for each in row["arguments"]],
        help=row["help"],
        examples=row["examples"],
        document=row.get("document", False),
        logged=row.get("logged", False),
        formats=row.get("formats", ()),
    )


def _parameter(row: Mapping[str, Any]) -> click.Parameter:
    """The option or argument of a row."""
    if row.get("kind") == "format":
        return format_or_name(row["metavar"], row["name"])
    given: dict[str, Any] = {"default": row["default"]} if "default" in row else {}
    settings: dict[str, Any] = {
        **given,
        "type": _type(row), "required": row.get("required", False),
        "metavar": row.get("metavar"),
    }  # fmt: skip
    if not row.get("options"):
        return click.Argument([row["name"]], nargs=-1 if row.get("many") else 1, **settings)
    if row.get("kind") == "optional":
        settings |= {"is_flag": False, "flag_value": ""}
    elif row.get("flag"):
        settings = {
            "is_flag": True,
            "flag_value": not row.get("off"),
            "default": bool(row.get("off")),
        }
    else:
        settings["show_default"] = "default" in row and row.get("kind") != "span"
        settings["multiple"] = row.get("many", False)
    how = " `-` reads stdin, `@file` a file." if row.get("kind") == "text" else ""
    return click.Option(
        [*row["options"], row["name"]],
        help=row.get("help", "") + how, hidden=row.get("hidden", False), **settings,
    )  # fmt: skip


def _type(row: Mapping[str, Any]) -> click.ParamType | None:  # type: ignore[type-arg]
    kind, number = row.get("kind"), row.get("type")
    least, most = row.get("least"), row.get("most")
    if kind == "span":
        return Span()
    if kind == "moment":
        return Moment()
    if "choices" in row:
        return click.Choice(row["choices"])
    if number == "int":
        return click.IntRange(least, most) if least is not None else click.INT
    return Amount(least, most, min_open=row.get("open", False)) if number == "float" else None


def _invoke(row: Mapping[str, Any], session: Session, **given: Any) -> int | None:
    """Read the words, call the target, print its result; the exit code."""
    session.via = given.pop("via", None) or session.via
    if row.get("logged") and isinstance(given.get("thread"), str):
        session.thread = given["thread"]
    given = read_words(session, row["arguments"], given)
    if "run" in row:
        code: int | None = function_of(row["run"])(session, **given)
        return code
    target = function_of(row["target"])
    if row["returns"] == "Outcome":
        return _run(session, target, given)
    with _context(session, target) as context:
        result = call(target, context, given)
    if hasattr(result, "exit_code"):
        session.emit(result.document, _renderer(session, row["text"], given))
        ended: int = result.exit_code
        return ended
    document = result
    if "key" in row and not isinstance(result, dict):
        document = {row["key"]: result}
    if row.get("logged"):
        session.thread = document.get("thread") or session.thread
    session.emit(document, _renderer(session, row["text"], given))
    exits = row.get("exit", ())
    pairs = zip(exits[::2], exits[1::2], strict=True)
    return next((code for key, code in pairs if not document.get(key, True)), ExitCode.DONE)


def _run(session: Session, target: Callable[..., Any], given: dict[str, Any]) -> int:
    """Run steps, show them, and ask the person at the terminal what the run asks."""
    from uwf_core.cli.outcome import print_outcome

    if given.pop("report", False):
        return _report(session, target, given)
    no_input = any([given.pop("no_input", True), given.get("background"), given.get("queue")])
    with _context(session, target) as context:
        outcome = call(target, context, given)
    if context.cancel is None:
        return print_outcome(session, outcome, was_shown=False)
    from uwf_core.engine.context import RunOptions

    if "workflow" in given:
        options = RunOptions(until_done=True, wait_limits=given["wait_limits"])
    else:
        options = RunOptions(**{key: given[key] for key in RunOptions._fields if key in given})
    if no_input or outcome.document["suspendReason"] != "role":
        return print_outcome(session, outcome, until_done=options.until_done)
    from uwf_core.cli.form import print_and_ask

    return print_and_ask(session, outcome, options)


def _report(session: Session, target: Callable[..., Any], given: dict[str, Any]) -> int:
    """Run branches for the process that has started this one: one, then those of the lines on
    stdin, which no plugin can read.
    """
    from uwf_core.engine.child_run import may_take_another
    from uwf_core.engine.report import Reporter

    reporter = Reporter(session.write)
    with open(os.dup(0), "rb") as orders, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        while True:
            with cancel_on_signals(session) as cancel:
                outcome = call(target, _context_of(session, reporter, cancel), given)
            reporter.outcome(session.engine, outcome)
            if not may_take_another(outcome, cancel) or not (order := orders.readline()):
                code: int = outcome.exit_code
                return code
            given |= json.loads(order)


@contextmanager
def _context(session: Session, target: Callable[..., Any]) -> Iterator[Context]:
    """The context of a call; the display of a run only where the target asks for it."""
    wanted = CONTEXT.intersection(target.__code__.co_varnames[: target.__code__.co_argcount])
    if "cancel" in wanted:
        from uwf_core.cli.outcome import running

        with running(session) as (live, cancel):
            yield _context_of(session, live, cancel)
    elif "watch" in wanted:
        from uwf_core.cli.outcome import watch

        with watch(session) as live:
            yield _context_of(session, live)
    else:
        yield _context_of(session)


def _context_of(session: Session, *run: Any) -> Context:
    return Context(lambda: session.engine, session.env, session.note, *run)


def _renderer(session: Session, text: str, given: Mapping[str, Any]) -> Callable[[Any, Any], str]:
    """What renders the document for people."""
    if "{" in text:
        return lambda document, _: text.format(**document)
    rest = {**given, "engine": None}

    def rendered(document: Any, screen: Any) -> str:
        function = function_of(text)
        names = function.__code__.co_varnames[2 : function.__code__.co_argcount]
        rest["engine"] = session.engine if "engine" in names else None
        return str(function(document, screen, **{name: rest[name] for name in names}))

    return rendered


_OF_TEXTS = ("text", "fields", "answer", "texts", "payload")
"""The kinds that may be in files or come from stdin."""


def read_words(
    session: Session, rows: Sequence[Mapping[str, Any]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of an operation, from the words of its command: texts of files and stdin are
    read, fields and tags parsed, limits collected.

    Raises:
        UsageError: one of them is wrong. PayloadError: a payload is not JSON.
    """
    if any(row.get("kind") in _OF_TEXTS for row in rows):
        from uwf_core.cli import params
    found = {row["name"]: given[row["name"]] for row in rows if row["name"] in given}
    for row in rows:
        name, option = row["name"], (row.get("options") or [row.get("metavar")])[0]
        value: Any = found.get(name)
        match row.get("kind"):
            case "text" if value is not None:
                found[name] = params.prompt_text(session, value, option)
            case "tags":
                from uwf_core.thread.tags import parse_tags

                found[name] = parse_tags(value, option.rstrip("…"))
            case "fields":
                found[name] = params.fields_text(value, option)
            case "answer":
                status = found.pop("status")
                first = [] if status is None else [f"$status={status}"]
                found[name] = params.fields_text(value, option, first, "--status or ")
            case "texts":
                found[name] = [params.file_or_text(each, option) for each in value]
            case "bindings":
                from uwf_core.agents.bindings import parse_bindings

                bound = parse_bindings(value)
                found |= {name: bound.agent, "bindings": bound.roles}
            case "payload":
                found[name] = partial(params.read_payload, value)
    return _collected(found, rows)


def _collected(found: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The arguments with the limits in one mapping."""
    for row in rows:
        if "into" in row and (amount := found.pop(row["name"])) is not None:
            from uwf_core.thread.limits import WORDS

            limits = found.setdefault(row["into"], {})
            limits[WORDS[row["name"].removeprefix("max_")]] = amount
    return found


class Amount(click.FloatRange):
    """A number of a range; `nan` and `inf` are none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Convert a text to a number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class Span(click.ParamType):  # type: ignore[type-arg]
    """A duration such as 7d, 12h, 30m or 0s; its value is in seconds."""

    name = "span"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Convert a text to seconds."""
        if isinstance(value, float):
            return value
        seconds = seconds_of(value)
        if seconds is None:
            self.fail(f"{value!r} is not a duration (7d, 12h, 30m, 0s)", param, ctx)
        return float(seconds)


class Moment(click.ParamType):  # type: ignore[type-arg]
    """A moment: an ISO date or date and time, or a duration back from now such as 7d, 12h or 30m.

    Its value is ms since 1970. A moment without a zone is in local time.
    """

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert a text to ms since 1970."""
        if isinstance(value, int):
            return value
        if (seconds := seconds_of(value)) is not None:
            return now_ms() - seconds * 1000
        try:
            return int(datetime.fromisoformat(value).astimezone().timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            self.fail(
                f"{value!r} is neither a date (2026-01-31) nor a duration (7d, 12h, 30m)",
                param,
                ctx,
            )
