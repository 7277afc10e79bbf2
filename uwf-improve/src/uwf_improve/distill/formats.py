"""The formats of sessions: lines of JSON as their programs write them -> turns. Pure.

A reader takes what it knows and passes over the rest: newer versions of a program add kinds of
lines. What has no turn of the user and of the agent is an error of `read`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from uwf_improve.distill.session import SessionTurn, ToolUse, plain_text, with_results

Line = Mapping[str, Any]


class _Said(NamedTuple):
    """A turn with the ids of its calls, and the results that came with it."""

    turn: SessionTurn
    ids: tuple[str, ...] = ()


def claude_code_turns(lines: Sequence[Line]) -> list[SessionTurn]:
    """A transcript of Claude Code: the messages that lead to the newest one, without those of
    agents that the model started, and without what the program says in the user's name.
    """
    said: list[_Said] = []
    results: dict[str, ToolUse] = {}
    message: Any = None
    for line in _newest_branch(lines):
        own = _mapping(line.get("message"))
        blocks = [*map(_mapping, _list(own.get("content")))]
        if line.get("type") == "user":
            results |= dict(_claude_results(blocks))
            text = plain_text(own.get("content"))
            if not line.get("isMeta") and text.strip():
                said.append(_Said(SessionTurn(speaker="user", text=text)))
        elif line.get("type") == "assistant":
            turn = _claude_turn(own.get("content"), blocks)
            if message is not None and own.get("id") == message:  # one line for each block
                turn = _joined(said.pop(), turn)
            said.append(turn)
            message = own.get("id")
    return with_results([each.turn for each in said], [each.ids for each in said], results)


def _claude_turn(content: Any, blocks: Sequence[Line]) -> _Said:
    uses = [each for each in blocks if each.get("type") == "tool_use"]
    tools = [ToolUse(name=_word(each, "name"), arguments=_json(each.get("input"))) for each in uses]
    turn = SessionTurn(speaker="agent", text=plain_text(content), tools=tools)
    return _Said(turn, tuple(_word(each, "id") for each in uses))


def _joined(first: _Said, then: _Said) -> _Said:
    text = "\n\n".join(each.turn.text for each in (first, then) if each.turn.text)
    tools = [*first.turn.tools, *then.turn.tools]
    return _Said(SessionTurn(speaker="agent", text=text, tools=tools), first.ids + then.ids)


def _claude_results(blocks: Sequence[Line]) -> Iterator[tuple[str, ToolUse]]:
    for block in blocks:
        if block.get("type") == "tool_result":
            text, wrong = plain_text(block.get("content")), bool(block.get("is_error"))
            name = _word(block, "tool_use_id")
            yield name, ToolUse(name="", result=text, is_error=wrong)


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
    return _chat_turns([each for each in map(_mapping, _list(document.get("messages")))
                        if each.get("active", 1)])  # fmt: skip


def _chat_turns(messages: Sequence[Line]) -> list[SessionTurn]:
    said: list[_Said] = []
    results: dict[str, ToolUse] = {}
    for message in messages:
        text, role = plain_text(message.get("content")), message.get("role")
        if role == "tool":
            results[_word(message, "tool_call_id")] = ToolUse(name="", result=text)
        elif role == "user":
            said.append(_Said(SessionTurn(speaker="user", text=text)))
        elif role == "assistant":
            calls = [*map(_mapping, _list(message.get("tool_calls")))]
            functions = [_mapping(each.get("function")) for each in calls]
            tools = [
                ToolUse(name=_word(each, "name"), arguments=_json(each.get("arguments")))
                for each in functions
            ]
            turn = SessionTurn(speaker="agent", text=text, tools=tools)
            said.append(_Said(turn, tuple(_word(each, "id") for each in calls)))
    return with_results([each.turn for each in said], [each.ids for each in said], results)


def atif_turns(document: Line) -> list[SessionTurn]:
    """A trajectory (ATIF): steps of a user and of an agent, with tool calls and observations."""
    said: list[_Said] = []
    results: dict[str, ToolUse] = {}
    for step in map(_mapping, _list(document.get("steps"))):
        text = plain_text(step.get("message"))
        if step.get("source") == "user":
            said.append(_Said(SessionTurn(speaker="user", text=text)))
        elif step.get("source") == "agent":
            calls = [*map(_mapping, _list(step.get("tool_calls")))]
            tools = [
                ToolUse(name=_word(each, "function_name"), arguments=_json(each.get("arguments")))
                for each in calls
            ]
            ids = tuple(_word(each, "tool_call_id") for each in calls)
            said.append(_Said(SessionTurn(speaker="agent", text=text, tools=tools), ids))
            observed = _list(_mapping(step.get("observation")).get("results"))
            for each in map(_mapping, observed):
                content = plain_text(each.get("content"))
                results[_word(each, "source_call_id")] = ToolUse(name="", result=content)
    return with_results([each.turn for each in said], [each.ids for each in said], results)


def builtin_turns(lines: Sequence[Line]) -> list[SessionTurn]:
    """A session of the builtin agent."""
    said: list[_Said] = []
    results: dict[str, ToolUse] = {}
    for line in lines:
        text = plain_text(line.get("text"))
        if line.get("type") == "answer":
            wrong = bool(line.get("isError"))
            results[_word(line, "id")] = ToolUse(name="", result=text, is_error=wrong)
        elif line.get("type") == "message" and line.get("role") == "user":
            said.append(_Said(SessionTurn(speaker="user", text=text)))
        elif line.get("type") == "message" and line.get("role") == "assistant":
            calls = [*map(_mapping, _list(line.get("toolCalls")))]
            tools = [
                ToolUse(name=_word(each, "name"), arguments=_json(each.get("arguments")))
                for each in calls
            ]
            turn = SessionTurn(speaker="agent", text=text, tools=tools)
            said.append(_Said(turn, tuple(_word(each, "id") for each in calls)))
    return with_results([each.turn for each in said], [each.ids for each in said], results)


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


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _word(value: Line, key: str) -> str:
    return str(value.get(key) or "")


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
