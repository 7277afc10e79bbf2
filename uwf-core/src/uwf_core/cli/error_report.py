"""Report the end of a command: print an error for people and for programs (what, where, why and a
hint; no traceback), and log the call.
"""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from uwf_core import __version__
from uwf_core.cli.render.colours import screen_of
from uwf_core.cli.session import Session, now_ms
from uwf_core.errors import (
    BusyError,
    DefinitionError,
    ExitCode,
    PayloadError,
    PluginBroken,
    RunInterrupted,
    StoreError,
    UsageError,
    UwfError,
    place_of,
)
from uwf_core.operations.rows import RETIRED_FORMATS, RETIRED_OPTIONS

if TYPE_CHECKING:
    from uwf_core.cli.render.colours import Screen
    from uwf_core.engine.log_file import LogEntry, LoggedError
    from uwf_core.plugins.scan import EntryPoint


class InternalError(UwfError):
    """An internal error in uwf."""

    code = "internal"


def explain(problem: BaseException, plugin: "EntryPoint | None" = None) -> UwfError:
    """Convert any exception to an error with a message, a place and a hint; `plugin` is the
    command of a plugin that raised it.
    """
    if isinstance(problem, UwfError):
        return problem
    # Python 3.11 wraps an interrupt while a class is created in a RuntimeError.
    if isinstance(problem, KeyboardInterrupt | click.Abort) or isinstance(
        problem.__cause__, KeyboardInterrupt
    ):
        return RunInterrupted("interrupted")
    if isinstance(problem, click.ClickException):
        return _usage(problem)
    if plugin is not None:
        return PluginBroken(
            f"the command {plugin.name!r} ({plugin.origin}) failed: "
            f"{type(problem).__name__}: {problem}".rstrip(": "),
            hint="report it to its author with the traceback that --debug prints",
        )
    if isinstance(problem, OSError):
        return UwfError(problem.strerror or str(problem), where=_file_of(problem))
    return InternalError(
        f"internal error in uwf: {type(problem).__name__}: {problem}".rstrip(": "),
        hint="please report it with the traceback that --debug prints",
    )


def _usage(problem: click.ClickException) -> UwfError:
    context = getattr(problem, "ctx", None)
    path = context.command_path if context else "uwf"
    text = problem.format_message().rstrip(".")
    if hint := _of_earlier_systems(problem):
        return UsageError(text[:1].lower() + text[1:], hint=hint)
    return UsageError(text[:1].lower() + text[1:], hint=f"`{path} --help` prints its usage")


def _of_earlier_systems(problem: click.ClickException) -> str | None:
    """What to do in place of an option or a format of an earlier system; None for others."""
    if isinstance(problem, click.NoSuchOption):
        return RETIRED_OPTIONS.get(problem.option_name)
    found = (new for old, new in RETIRED_FORMATS.items() if f"'{old}'" in problem.message)
    new = next(found, None) if isinstance(problem, click.BadParameter) else None
    return None if new is None else f"use `--format {new}`: it prints the bare document"


def _file_of(problem: OSError) -> str | None:
    return None if problem.filename is None else str(problem.filename)


def report(
    session: Session, error: UwfError, cause: BaseException, arguments: Sequence[str]
) -> int:
    """Print an error on stderr in the requested format; return its exit code."""
    document = error.document()
    if session.opened is not None:
        document = redacted(session, document)
    if session.debug or "--debug" in arguments:
        session.note(redacted(session, traceback_of(cause)))
    if wanted_format(session, arguments) == "text":
        screen = screen_of(session.stderr, session.env, session.color)
        session.write_error(error_text(document["error"], screen))
    else:
        session.chosen = wanted_format(session, arguments)
        session.write_error(session.data(document, compact=True))
    return error.exit_code or ExitCode.FAILED


def error_document(session: Session, problem: Exception) -> Any:
    """The document of an error, without secrets, for a program that serves others."""
    return redacted(session, explain(problem).document())


def wanted_format(session: Session, arguments: Sequence[str]) -> Any:
    """The format of an error; read from the arguments where they could not be parsed."""
    if session.chosen is None:
        for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
            name, _, value = word.partition("=")
            value = value or following
            if name == "--format" and value in ("text", "json", "yaml"):
                return value
    return session.format


def traceback_of(cause: BaseException) -> str:
    """The traceback with its causes."""
    from traceback import format_exception

    return "".join(format_exception(cause)).rstrip()


def error_text(error: dict[str, Any], screen: "Screen") -> str:
    """The text of an error: its problems by their places, else its message, place and hint."""
    from uwf_core.cli.render.findings import problem_lines
    from uwf_core.escape import clean_document, in_line

    error = clean_document(error)
    problems = error.get("problems") or []
    word = screen.paint("error:", "error")
    if any(map(place_of, problems)):
        return "\n".join(problem_lines(problems, screen))
    lines = [f"{word} {error['message']}"]
    if len(problems) > 1:  # the message has the first one
        lines += [f"  {line}" for line in problem_lines(problems, screen)]
    if error["where"]:
        lines.append(f"  where: {in_line(error['where'])}")
    if error["hint"]:
        lines.append(f"  hint: {error['hint']}")
    return "\n".join(lines)


def redacted(session: Session, value: Any) -> Any:
    """Replace every known secret, and what looks like one, in all texts of `value`.

    If the configuration cannot be read, only what looks like a secret is replaced.
    """
    from uwf_core.escape import each_text

    return each_text(value, _redaction(session))


def _redaction(session: Session) -> Callable[[str], str]:
    """How texts of this command are redacted. Found once: it reads the settings each time if
    they are wrong.
    """
    from uwf_core.api.redact import guess

    if session.opened is None:
        return guess
    try:
        redactor = session.opened.redactor
    except Exception:
        # The settings cannot be read, and an error is being printed already: use patterns only.
        return guess
    return lambda text: guess(redactor.text(text))


# -- the log ---------------------------------------------------------------------------------------

NOT_LOGGED = (UsageError, DefinitionError, PayloadError, BusyError)
"""An invalid call changes nothing, not even the log."""


class LoggedCall(NamedTuple):
    """The result of a call: its arguments, its start (ms since 1970), exit code and error."""

    arguments: Sequence[str]
    started_ms: int
    code: int
    error: BaseException | None


def write_log(session: Session, call: LoggedCall) -> None:
    """Log a call that ran or changed something. A log that cannot be written only causes a note,
    and none if the call failed, since its error must come last.
    """
    from uwf_core.engine.log_file import LogFile

    engine = session.opened
    if engine is None or (call.error and isinstance(explain(call.error), NOT_LOGGED)):
        return
    log = LogFile(engine.home, lambda text: str(redacted(session, text)))
    try:
        log.append(_entry(session, call))
    except StoreError as problem:
        if call.error is None:
            session.note(f"note: {problem.message} ({problem.where})")


def _entry(session: Session, call: LoggedCall) -> "LogEntry":
    from uwf_core.engine.log_file import FORMAT, new_id

    return {
        "version": FORMAT,
        "id": new_id(call.started_ms),
        "atMs": call.started_ms,
        "command": _as_typed(call.arguments),
        "cwd": session.opened.cwd if session.opened else "",
        "thread": _thread_id(session),
        "exitCode": call.code,
        "durationMs": now_ms() - call.started_ms,
        "pid": os.getpid(),
        "uwf": __version__,
        "error": _error(session, call),
        "traceback": traceback_of(call.error) if call.error else None,
    }


def _as_typed(arguments: Sequence[str]) -> list[str]:
    """The words of a command; those of a background run without what only its parent passes."""
    words = list(arguments)
    if "--announce" in words:
        at = words.index("--announce")
        words[at - 2 : at + 2] = []  # after `--format json`; see `threads.background`
    return words


def _thread_id(session: Session) -> str | None:
    """The thread's id, also where the command had no more than a word for it."""
    from uwf_core.engine.find import find_thread
    from uwf_core.ids import ThreadId

    word = session.thread
    if word is None or session.opened is None or ThreadId.matches(word):
        return word
    try:
        return find_thread(session.opened, word)
    except UwfError:
        return word


def _error(session: Session, call: LoggedCall) -> "LoggedError | None":
    if call.error is not None:
        error = explain(call.error, session.plugin)
        return {
            "code": error.code,
            "message": error.message,
            "where": error.where,
            "hint": error.hint,
        }
    if session.failure is not None:
        kind, message = session.failure
        return {"code": kind, "message": message, "where": None, "hint": None}
    return None
