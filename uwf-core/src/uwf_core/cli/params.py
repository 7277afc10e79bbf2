"""The words of commands: texts and files that people type."""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from uwf_core.cli.session import Session
from uwf_core.errors import PayloadError, UsageError
from uwf_core.fields.records import without_doubles
from uwf_core.process.path_walk import MOST_BYTES, read_regular


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
    from uwf_core.workflow.entered_fields import join_items

    texts = [file_or_text(each, option) for each in given]
    return join_items([*first, *given], [*first, *texts], option, others)


def read_payload(path: str) -> Any:
    """The JSON value in a file, or on stdin for `-`.

    Raises:
        UsageError: the file cannot be read. PayloadError: it is not valid JSON.
    """
    text = file_or_stdin(path, "FILE")
    try:
        return json.loads(text, parse_constant=_no_json, object_pairs_hook=without_doubles)
    except RecursionError as error:
        raise PayloadError("nested too deeply", where=path) from error
    except ValueError as error:
        raise PayloadError(f"invalid JSON: {error}", where=path) from error


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


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
