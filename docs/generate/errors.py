"""The page of exit codes, errors and kinds of failure, from `uwf_core.errors`."""

import inspect
from collections.abc import Iterator

from generate.tables import table
from uwf_core import errors

EXIT_CODES = {
    errors.ExitCode.DONE: "done",
    errors.ExitCode.FAILED: "the run failed",
    errors.ExitCode.USAGE: "usage, unknown id, wrong state",
    errors.ExitCode.SUSPENDED: "suspended, a person is needed",
    errors.ExitCode.INVALID: "invalid definition or output",
    errors.ExitCode.LIMIT: "limit reached",
    errors.ExitCode.AGENT: "the agent failed",
    errors.ExitCode.BUSY: "busy, or not finished in time",
    errors.ExitCode.INTERRUPTED: "interrupted",
}

INTRODUCTION = """\
# Errors and exit codes

Every error contains what is wrong, where, and how to fix it. With `--format json` it is a document
on stderr: `{"error": {"code", "message", "where", "hint", "exitCode"}}`. `--debug` adds the
traceback. A usage, state or busy error prints nothing on stdout and changes nothing.
"""


def markdown() -> str:
    """The whole page."""
    assert sorted(EXIT_CODES) == sorted(_exit_codes()), "an exit code has no meaning here"
    codes = table(["code", "meaning"], [(f"`{code}`", text) for code, text in EXIT_CODES.items()])
    kinds = table(
        ["code", "error", "exit", "meaning"],
        [
            (f"`{error.code}`", f"`{error.__name__}`", f"`{error.exit_code}`", summary(error))
            for error in below(errors.UwfError)
            if not issubclass(error, errors.AgentFailure)
        ],
    )
    failures = table(
        ["kind", "meaning", "exit", "a later run"],
        [
            (
                f"`{kind.word}`",
                kind.meaning,
                f"`{kind.exit_code}`",
                "continues the session, if there is one"
                if kind.keeps_session
                else "begins a fresh session",
            )
            for kind in errors.FailureKind
        ],
    )
    return "\n\n".join(
        [
            INTRODUCTION,
            "## Exit codes",
            codes,
            "## Errors",
            kinds,
            "## How an agent can fail",
            "A closed list: the adapter reports the kind; uwf never guesses it from a text. The "
            "thread is then suspended (reason `failure`), and the next `uwf thread exec` runs "
            "the role again.",
            failures,
        ]
    )


def below(error: type[errors.UwfError]) -> Iterator[type[errors.UwfError]]:
    """Every error of the core below `error`, in the order of the source."""
    for subclass in error.__subclasses__():
        if subclass.__module__ == errors.__name__:
            yield subclass
            yield from below(subclass)


def summary(error: type[errors.UwfError]) -> str:
    """The first paragraph of an error's docstring."""
    return inspect.cleandoc(error.__doc__ or "").split("\n\n")[0]


def _exit_codes() -> list[int]:
    return [value for name, value in vars(errors.ExitCode).items() if name.isupper()]
