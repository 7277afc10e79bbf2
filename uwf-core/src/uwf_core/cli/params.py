"""Options and parameter types that several commands share."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.session import Session, now_ms, working_folder
from uwf_core.errors import UsageError
from uwf_core.process.path_walk import MOST_BYTES, read_regular

if TYPE_CHECKING:
    from uwf_core.threads.start import StartOptions

_SPAN = r"([0-9]{1,6})(d|h|m|s)"
_SPAN_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LARGEST = 2**53 - 1
"""The largest whole number that is exact in JSON."""

Decorator = Callable[[Any], Any]


def thread_argument() -> Decorator:
    """The argument THREAD."""
    return click.argument("thread", metavar="THREAD")


def step_argument() -> Decorator:
    """The argument STEP."""
    return click.argument("step", metavar="STEP")


def agent_option(text: str = "Agent for this call: an alias, a name or a command.") -> Decorator:
    """The option --agent."""
    return click.option("--agent", metavar="AGENT", help=text)


def start_options(function: Any) -> Any:
    """The arguments of what creates a thread: run and start."""
    for option in (
        click.option(
            "--agent",
            "agents",
            multiple=True,
            metavar="AGENT",
            help="Agent for the roles of this thread, or for one: ROLE=AGENT (may be repeated).",
        ),
        click.option(
            "--cwd", metavar="DIR", help="Working folder of the agents (default: the current one)."
        ),
        click.option(
            "--input",
            "inputs",
            multiple=True,
            metavar="INPUT",
            help="Typed input: field=value (may be repeated), JSON, or @file.",
        ),
        *_limit_options(),
        click.option(
            "--tag",
            "tags",
            multiple=True,
            metavar="KEY=VALUE",
            help="Tag of the thread, for lists (may be repeated).",
        ),
        prompt_option("The task."),
        click.argument("workflow", metavar="WORKFLOW"),
    ):
        function = option(function)
    return function


def _limit_options() -> list[Decorator]:
    """The limits of a thread: --max-cost, --max-tokens, --max-steps, --max-minutes."""
    positive, whole = Amount(min=0, min_open=True), click.IntRange(min=1, max=_LARGEST)
    texts = (
        ("--max-minutes", positive, "M", "Stop after M minutes of running."),
        ("--max-steps", whole, "N", "Stop after N steps."),
        ("--max-tokens", whole, "N", "Stop when N tokens are used."),
        ("--max-cost", positive, "USD", "Stop when this cost is reached, with all that it calls."),
    )
    return [
        click.option(name, type=kind, metavar=metavar, help=text)
        for name, kind, metavar, text in texts
    ]


def wait_limits_option() -> Decorator:
    """The option --wait-limits."""
    text = "Wait up to 30m, 2h … in all when a service asks to wait, and continue."
    return click.option("--wait-limits", type=Span(), metavar="TIME", help=text)


def run_options(function: Any) -> Any:
    """The options of what runs steps of a thread: exec, resume and poke."""
    for option in (
        click.option(
            "--announce", type=int, hidden=True, help="Descriptor that reports the acquired lock."
        ),
        via_option(),
        no_input_option(),
        background_option(),
        wait_limits_option(),
        until_done_option(),
        head_option(),
        click.option(
            "--cwd", metavar="DIR", help="Working folder for this call, in place of the thread's."
        ),
        agent_option(),
    ):
        function = option(function)
    return function


def head_option() -> Decorator:
    """The option --head."""
    text = "Only if this step is still the newest of the thread."
    return click.option("--head", metavar="STEP", help=text)


def via_option() -> Decorator:
    """The option with which a background run records where a person acted."""

    def keep(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value is not None:
            ctx.ensure_object(Session).via = value

    return click.option("--via", hidden=True, expose_value=False, is_eager=True, callback=keep)


def no_input_option() -> Decorator:
    """The option --no-input."""
    text = "Do not ask a person on this terminal; leave the question pending."
    return click.option("--no-input", is_flag=True, help=text)


def background_option() -> Decorator:
    """The option --background."""
    text = "Run in the background; see `wait` and `stop`."
    return click.option("--background", is_flag=True, help=text)


def queue_option() -> Decorator:
    """The option --queue."""
    text = "Hand it to workers (`uwf worker`), which run it from now on."
    return click.option("--queue", is_flag=True, help=text)


def until_done_option() -> Decorator:
    """The option --until-done."""
    text = "Run until the end, at most 100 steps."
    return click.option("--until-done", is_flag=True, help=text)


def prompt_option(text: str, *, required: bool = True) -> Decorator:
    """The option -p/--prompt."""
    return click.option(
        "-p", "--prompt", required=required, metavar="TEXT",
        help=text + " `-` reads stdin, `@file` a file.",
    )  # fmt: skip


def quota_option() -> Decorator:
    """The option --quota."""
    return click.option(
        "--quota",
        type=click.IntRange(min=1),
        default=32_000,
        show_default=True,
        metavar="N",
        help="Maximum number of characters to show.",
    )


def prompt_text(session: Session, given: str, option: str = "-p") -> str:
    """The text of `-p`: the value, stdin (`-`) or a file (`@file`).

    Raises:
        UsageError: it is blank, unreadable or not UTF-8.
    """
    text = _decoded(_stdin(), "stdin") if given == "-" else file_or_text(given, option)
    if not text.strip():
        raise UsageError(f"the text of {option} is blank", hint="give a text; `-` reads stdin")
    return text


def file_or_text(given: str, option: str) -> str:
    """`given`, or the text of the file if it begins with @.

    Raises:
        UsageError: the file cannot be read or is not UTF-8.
    """
    return read_file(given[1:], option) if given.startswith("@") else given


def fields_text(
    given: Sequence[str], option: str, first: Sequence[str] = (), others: str = ""
) -> str | None:
    """The values of a repeated option of fields as one text, None without any.

    Args:
        given: `field=value`, JSON or `@file` each. option: its name.
        first: items `field=value` that another option gave; `others` names it, for messages.

    Raises:
        UsageError: a file cannot be read, or JSON is combined with others.
    """
    if not (given or first):
        return None
    from uwf_core.workflow.typed_text import join_items

    texts = [file_or_text(each, option) for each in given]
    return join_items([*first, *given], [*first, *texts], option, others)


def new_thread(
    session: Session,
    workflow: str,
    prompt: str,
    cwd: str | None,
    agents: tuple[str, ...],
    inputs: tuple[str, ...],
    tags: tuple[str, ...],
    **limits: float | None,
) -> "StartOptions":
    """What the options of `start_options` ask for.

    Raises:
        UsageError: one of them is wrong.
    """
    from uwf_core.agents.bindings import parse_bindings
    from uwf_core.thread.limits import WORDS
    from uwf_core.thread.tags import parse_tags
    from uwf_core.threads.start import StartOptions

    bindings = parse_bindings(agents)
    return StartOptions(
        workflow=workflow,
        prompt=prompt_text(session, prompt),
        cwd=cwd if cwd is not None else working_folder(),
        agent=bindings.agent,
        input=fields_text(inputs, "--input"),
        bindings=bindings.roles,
        limits={
            WORDS[name.removeprefix("max_")]: value
            for name, value in limits.items()
            if value is not None
        },
        tags=parse_tags(tags),
    )


def read_file(path: str, option: str) -> str:
    """The text of a file.

    Raises:
        UsageError: it cannot be read or is not UTF-8.
    """
    try:
        return _decoded(read_regular(path), path)
    except OSError as error:
        raise UsageError(
            f"cannot read the file of {option}: {error.strerror}",
            where=path,
            hint="a text that begins with @, and that of a pipe, can come from stdin: -p -"
            if option == "-p"
            else "after @ comes the path of a file, from the current folder",
        ) from error


def file_or_stdin(path: str, what: str) -> str:
    """The text of a file, or of stdin for `-`.

    Raises:
        UsageError: it cannot be read or is not UTF-8.
    """
    return _decoded(_stdin(), "stdin") if path == "-" else read_file(path, what)


def _stdin() -> bytes:
    import sys

    if sys.stdin is None:
        raise UsageError("stdin is closed")
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"stdin is larger than {MOST_BYTES:,} bytes")
    return data


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8: {error.reason} at byte {error.start}", where=where) from error


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
        span = re.fullmatch(_SPAN, value)
        if span is None:
            self.fail(f"{value!r} is not a duration (7d, 12h, 30m, 0s)", param, ctx)
        return float(int(span[1]) * _SPAN_SECONDS[span[2]])


class Moment(click.ParamType):  # type: ignore[type-arg]
    """A moment: an ISO date or date and time, or a duration back from now such as 7d, 12h or 30m.

    Its value is ms since 1970. A moment without a zone is in local time.
    """

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert a text to ms since 1970."""
        if isinstance(value, int):
            return value
        if span := re.fullmatch(_SPAN, value):
            seconds = int(span[1]) * _SPAN_SECONDS[span[2]]
            return now_ms() - int(timedelta(seconds=seconds).total_seconds() * 1000)
        try:
            return int(datetime.fromisoformat(value).astimezone().timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            self.fail(
                f"{value!r} is neither a date (2026-01-31) nor a duration (7d, 12h, 30m)",
                param,
                ctx,
            )
