"""Find the file of a session and read it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from uwf_core.api import read_regular
from uwf_improve.distill.formats import FORMATS, Line, RecordedSession, SessionError, format_of

MOST_BYTES: Final = 200_000_000
_FORMATS = "a transcript of Claude Code, `hermes sessions export`, ATIF, or of the builtin agent"


def read_session(word: str, cwd: Path, env: Mapping[str, str]) -> RecordedSession:
    """Read a session.

    Args:
        word: a file, or the id of a session of Claude Code on this machine.

    Raises:
        SessionError: there is no such file, or it is not a session.
    """
    file = _find(word, cwd, env)
    lines = _objects(file)
    name = format_of(lines)
    if name is None:
        raise SessionError(f"{file} is not a recorded session", hint=f"expected {_FORMATS}")
    turns = FORMATS[name](lines)
    for speaker, who in (("user", "the user says nothing"), ("agent", "the agent does nothing")):
        if not any(each.speaker == speaker and (each.text.strip() or each.tools) for each in turns):
            raise SessionError(f"{who} in the session {file} ({name})",
                               hint="choose a session with a task and an answer")  # fmt: skip
    return RecordedSession(format=name, turns=turns)


def _find(word: str, cwd: Path, env: Mapping[str, str]) -> Path:
    file = cwd / word
    if file.is_file():
        return file
    if word and all(letter.isalnum() or letter == "-" for letter in word):
        own = env.get("CLAUDE_CONFIG_DIR")
        folder = Path(own) if own else Path(env.get("HOME") or Path.home(), ".claude")
        found = sorted(folder.glob(f"projects/*/{word}.jsonl"))
        if found:
            return found[0]
    raise SessionError(
        f"there is no session {word!r}",
        hint=f"name a file ({_FORMATS}), or the id of a session of Claude Code",
    )


def _objects(file: Path) -> list[Line]:
    """The file as one JSON object, else those of its lines that are one."""
    try:
        text = read_regular(str(file), MOST_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        raise SessionError(f"cannot read {file}: {error.strerror}") from error
    whole = _parsed(text)
    if whole is not None:
        return [whole] if isinstance(whole, dict) else []
    return [each for each in _parsed_lines(text) if isinstance(each, dict)]


def _parsed_lines(text: str) -> Iterator[Any]:
    for line in text.split("\n"):  # a text may have other line breaks within
        yield _parsed(line)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None  # cut off by a kill, or lines
