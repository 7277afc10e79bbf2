"""The formats of sessions: lines of JSON as their programs write them -> turns. Pure.

A reader takes what it knows and passes over the rest: newer versions of a program add kinds of
lines. What has no turn of the user and of the agent is an error of `read`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from uwf_core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """One use of a tool; `result` is None where it is not recorded."""

    name: str
    arguments: str = ""
    result: str | None = None
    is_error: bool = False


@dataclass(frozen=True, kw_only=True)
class SessionTurn:
    """What one side said in one go; only the agent uses tools."""

    speaker: Literal["user", "agent"]
    text: str = ""
    tools: Sequence[ToolUse] = ()


@dataclass(frozen=True, kw_only=True)
class RecordedSession:
    """A session, oldest turn first. `format`: such as `Claude Code`."""

    format: str
    turns: Sequence[SessionTurn]


class SessionError(UsageError):
    """A file is not a session that can be read."""


Line = Mapping[str, Any]


class _Session:
    """What was said, in order; the results of tools go to their calls by id."""

    def __init__(self, name: str = "name", arguments: str = "arguments", call: str = "id") -> None:
        """The keys of a call."""
        self._keys = name, arguments, call
        self._said: list[tuple[Literal["user", "agent"], list[str], list[Line]]] = []
        self._results: dict[str, tuple[str, bool]] = {}

    def add(self, speaker: Any, text: str, calls: Iterable[Any] = ()) -> None:
        """A turn of the user or of the agent; turns of other speakers are ignored."""
        if speaker in ("user", "agent", "assistant"):
            who: Literal["user", "agent"] = "user" if speaker == "user" else "agent"
            self._said.append((who, [text], [*map(_mapping, calls)]))

    def extend(self, text: str, calls: Iterable[Line]) -> None:
        """More of the newest turn."""
        _, texts, known = self._said[-1]
        texts.append(text)
        known.extend(calls)

    def result(self, call: str, content: Any, is_error: Any = False) -> None:
        self._results[call] = _text(content), bool(is_error)

    def turns(self) -> list[SessionTurn]:
        return [
            SessionTurn(
                speaker=speaker,
                text="\n\n".join(filter(None, texts)),
                tools=[] if speaker == "user" else [*map(self._use, calls)],
            )
            for speaker, texts, calls in self._said
        ]

    def _use(self, call: Line) -> ToolUse:
        name, arguments, id_ = self._keys
        result, is_error = self._results.get(_word(call, id_), (None, False))
        given = call.get(arguments)
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return ToolUse(name=_word(call, name), arguments=text, result=result, is_error=is_error)


def claude_code_turns(lines: Sequence[Line]) -> list[SessionTurn]:
    """A transcript of Claude Code: the messages that lead to the newest one, without those of
    agents that the model started, and without what the program says in the user's name.
    """
    session = _Session(arguments="input")
    message: Any = None
    for line in _newest_branch(lines):
        own = _mapping(line.get("message"))
        text, blocks = _text(own.get("content")), _mappings(own, "content")
        if line.get("type") == "user":
            for each in blocks:
                if each.get("type") == "tool_result":
                    word = _word(each, "tool_use_id")
                    session.result(word, each.get("content"), each.get("is_error"))
            if not line.get("isMeta") and text.strip():
                session.add("user", text)
        elif line.get("type") == "assistant":
            uses = [each for each in blocks if each.get("type") == "tool_use"]
            if message is not None and own.get("id") == message:  # one line for each block
                session.extend(text, uses)
            else:
                session.add("agent", text, uses)
            message = own.get("id")
    return session.turns()


def _newest_branch(lines: Sequence[Line]) -> list[Line]:
    """The lines that lead to the newest message. A user can go back and continue elsewhere; then
    the transcript has several branches.
    """
    known = {each["uuid"]: each for each in lines if isinstance(each.get("uuid"), str)}
    main = [each for each in known.values() if not each.get("isSidechain")]
    spoken = [each for each in main if each.get("type") in ("user", "assistant")]
    at = spoken[-1]["uuid"] if spoken else None
    branch: dict[str, Line] = {}
    while isinstance(at, str) and at in known and at not in branch:
        branch[at] = known[at]
        at = known[at].get("parentUuid") or known[at].get("logicalParentUuid")
    return [*reversed(branch.values())]


def hermes_turns(document: Line) -> list[SessionTurn]:
    """A session as `hermes sessions export` writes it: messages of chat completions."""
    session = _Session()
    for each in _mappings(document, "messages"):
        if not each.get("active", 1):
            continue
        if each.get("role") == "tool":
            session.result(_word(each, "tool_call_id"), each.get("content"))
        calls = [
            {**_mapping(call.get("function")), "id": call.get("id")}
            for call in _mappings(each, "tool_calls")
        ]
        session.add(each.get("role"), _text(each.get("content")), calls)
    return session.turns()


def atif_turns(document: Line) -> list[SessionTurn]:
    """A trajectory (ATIF): steps of a user and of an agent, with tool calls and observations."""
    session = _Session("function_name", call="tool_call_id")
    for step in _mappings(document, "steps"):
        session.add(step.get("source"), _text(step.get("message")), _mappings(step, "tool_calls"))
        for each in _mappings(_mapping(step.get("observation")), "results"):
            session.result(_word(each, "source_call_id"), each.get("content"))
    return session.turns()


def builtin_turns(lines: Sequence[Line]) -> list[SessionTurn]:
    """A session of the builtin agent."""
    session = _Session()
    for line in lines:
        if line.get("type") == "answer":
            session.result(_word(line, "id"), line.get("text"), line.get("isError"))
        elif line.get("type") == "message":
            session.add(line.get("role"), _text(line.get("text")), _mappings(line, "toolCalls"))
    return session.turns()


FORMATS: Final[Mapping[str, Callable[[Sequence[Line]], list[SessionTurn]]]] = {
    "ATIF": lambda lines: atif_turns(lines[0]),
    "Hermes": lambda lines: hermes_turns(lines[0]),
    "the builtin agent": builtin_turns,
    "Claude Code": claude_code_turns,
}


def format_of(lines: Sequence[Line]) -> str | None:
    """The format of a file by its objects; None: none of these."""
    if not lines:
        return None
    first = lines[0]
    if str(first.get("schema_version", "")).startswith("ATIF"):
        return "ATIF"
    if isinstance(first.get("messages"), list):
        return "Hermes"
    if first.get("type") == "session" and "v" in first:
        return "the builtin agent"
    if any("sessionId" in each and "uuid" in each for each in lines):
        return "Claude Code"
    return None


def _mapping(value: Any) -> Line:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: Line, key: str) -> list[Line]:
    found = value.get(key)
    return [*map(_mapping, found)] if isinstance(found, list) else []


def _word(value: Line, key: str) -> str:
    return str(value.get(key) or "")


def _text(content: Any) -> str:
    """The text of a message: a string, or the text blocks of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        blocks = [each if isinstance(each, str) else _block(each) for each in content]
        return "\n\n".join(each for each in blocks if each)
    return ""


def _block(block: Any) -> str:
    is_text = isinstance(block, Mapping) and block.get("type") in ("text", "output_text")
    return str(block.get("text") or "") if is_text else ""
