"""The command protocol, version 1, as JSON: write requests, read replies and events. Pure.

All JSON uses the field names of the records of `uwf_core.api` in camelCase; `session` of a reply
is `sessionId`. A missing or null field has its default, an unknown field is
ignored, and one of a wrong type is an error. But a count or time that cannot be one is unknown: a
reply that was paid for is not discarded because of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from uwf_core.agents.cleaning import clean_turn, clean_value
from uwf_core.api.agent import AgentRequest, AskRequest, Continuation, Turn, Usage
from uwf_core.api.reply import ReplyFacts
from uwf_core.api.sums import FIELDS, LARGEST
from uwf_core.fields.mismatch import FieldFault, Path, shown
from uwf_core.fields.records import integer, read_record, write_record

PROTOCOL = 1
Mode = Literal["run", "fork", "ask"]
_MOST_PARTS = 500_000
"""Each of them takes many times the memory of its text."""
_NOT_SENT = frozenset(("env", "cancel", "onProcess"))
"""Fields of a request that are only for one process."""


@dataclass(frozen=True, kw_only=True)
class CommandError:
    """`error` of a reply: a kind of the closed table, or `needs_answer` with a form."""

    kind: Annotated[str, "A kind of failure, or `needs_answer`."]
    message: Annotated[str, "For people."] = ""
    until: Annotated[Any, "The end of a limit, in ms since 1970."] = None
    form: Annotated[dict[str, Any] | None, "The JSON Schema of an answer."] = None


@dataclass(frozen=True, kw_only=True)
class CommandReply(ReplyFacts):
    """The last line of a command's stdout."""

    output: Annotated[
        str | dict[str, Any] | None, "The reply: text with frontmatter, or the typed output."
    ] = None
    session_id: Annotated[str | None, "The session, to continue it later."] = None
    usage: Annotated[Usage | None, "What the call used; null is unknown."] = None
    usage_is_total: Annotated[bool, "Whether `usage` is that of the whole session so far."] = False
    turns: Annotated[tuple[Turn, ...], "Messages within the agent's loop."] = ()
    error: Annotated[CommandError | None, "Why there is no output."] = None
    continuation: Annotated[Continuation | None, "What became of the session."] = None


@dataclass(frozen=True, kw_only=True)
class CommandEvent:
    """A line of the events file: any of the three."""

    turn: Annotated[Turn | None, "A message within the agent's loop."] = None
    session: Annotated[str | None, "The session."] = None
    usage: Annotated[Usage | None, "What was used so far."] = None
    usage_is_total: Annotated[bool, "Whether `usage` is that of the whole session so far."] = False


class NoJson(ValueError):
    """A line that is not a JSON object; `cut` if it is the beginning of one."""

    def __init__(self, message: str, cut: bool) -> None:
        super().__init__(message)
        self.cut = cut


def request_document(
    mode: Mode, request: AgentRequest | AskRequest, options: Any, at: str | None = None
) -> bytes:
    """The JSON of the file that `UWF_REQUEST` names.

    All fields of the request, besides `protocol`, `mode`, for a fork `at`, and, if the request has
    none, `options`.
    """
    fields = {key: item for key, item in write_record(request).items() if key not in _NOT_SENT}
    if fields.get("model") is not None:
        fields["model"] = {**fields["model"]}
        del fields["model"]["protocolFactory"]  # code, for agents in this process
    if request.options is None:
        fields["options"] = write_record(options)
    document = {"protocol": PROTOCOL, "mode": mode, **fields}
    if mode == "fork":
        document["at"] = at
    return json.dumps(document, ensure_ascii=True, indent=1).encode()


def read_reply(line: bytes) -> CommandReply:
    """Read the reply of a line; a turn without an index gets its position in the list.

    Raises:
        NoJson: it is not a JSON object.
        FieldFault: a field is of a wrong type or out of range.
    """
    mapping = clean_value(json_object(line))
    if "stepHash" in mapping and "output" not in mapping:
        raise FieldFault(
            (),
            "has the form of the adapters of the original uwf, which write to its own store",
            'let it print {"output": …}: see "Any program as an agent" in the guide',
        )
    turns = mapping.get("turns")
    if isinstance(turns, list):
        mapping["turns"] = [_with_defaults(turn, index) for index, turn in enumerate(turns)]
    mapping["mark"] = _mark(mapping.get("mark"))
    reply = read_record(CommandReply, _with_known(mapping), lenient=True)
    for index, turn in enumerate(reply.turns):
        _check_turn(turn, ("turns", index))
    return reply


def read_event(line: bytes, next_index: int) -> CommandEvent:
    """Read the event of a line; a turn without an index gets `next_index`.

    Raises:
        NoJson, FieldFault: as `read_reply`.
    """
    mapping = clean_value(json_object(line))
    mapping["turn"] = _with_defaults(mapping.get("turn"), next_index)
    event = read_record(CommandEvent, _with_known(mapping), lenient=True)
    if event.turn is None and event.session is None and event.usage is None:
        raise FieldFault((), "has none of turn, session, usage")
    if event.session == "":
        raise FieldFault(("session",), "is empty")
    if event.turn is not None:
        _check_turn(event.turn, ("turn",))
    return event


def _with_defaults(turn: Any, index: int) -> Any:
    """A turn with its optional fields."""
    if not isinstance(turn, Mapping):
        return turn
    said = {key: item for key, item in turn.items() if item is not None}
    return _with_known({"index": index, "role": "assistant", **said})


def _with_known(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A reply, an event or a turn, with null for each count and time that cannot be one."""
    known = dict(mapping)
    if "usage" in known:
        known["usage"] = _usage(known["usage"])
    if isinstance(known.get("error"), dict):
        known["error"] = _with_times(known["error"], "until")
    if isinstance(calls := known.get("toolCalls"), list):
        known["toolCalls"] = [_with_times(call, "startedMs", "endedMs") for call in calls]
    return known


def _usage(usage: Any) -> dict[str, Any] | None:
    """The usage with its known counts; None if none of what it has is one."""
    if not isinstance(usage, dict):
        return None
    counts = {name: _count(usage.get(name), fraction=name == "costUsd") for name, _ in FIELDS}
    marked = usage.get("atLeast")
    marked = marked if isinstance(marked, list) else [marked]
    known = [name for name, count in counts.items() if count is not None]
    if not known and any(usage.get(name) is not None for name in counts):
        return None
    return {**counts, "atLeast": [name for name in known if name in marked]}


def _with_times(mapping: Any, *names: str) -> Any:
    if not isinstance(mapping, dict):
        return mapping
    return {**mapping, **{name: _count(mapping.get(name)) for name in names}}


def _count(number: Any, fraction: bool = False) -> int | float | None:
    """`number` as a count; a whole float is its integer. None if it cannot be a count."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    if not 0 <= number <= LARGEST:  # nor NaN
        return None
    if fraction or isinstance(number, int):
        return number
    return int(number) if number.is_integer() else None


def _mark(mark: Any) -> str | None:
    """A mark as text: a program may count lines. Any other mark is ignored."""
    if isinstance(mark, int) and not isinstance(mark, bool):
        return str(mark)
    return mark if isinstance(mark, str) else None


def _check_turn(turn: Turn, path: Path) -> None:
    try:
        clean_turn(turn)
    except FieldFault as fault:
        raise FieldFault((*path, *fault.path), fault.message, fault.hint) from fault


def json_object(line: bytes) -> dict[str, Any]:
    """Parse a line as a JSON object.

    Raises:
        NoJson: it is not one.
    """
    if line.count(b"{") + line.count(b"[") > _MOST_PARTS:
        raise NoJson(f"has more than {_MOST_PARTS:,} objects and lists", cut=False)
    try:
        value = json.loads(line.decode("utf-8-sig"), parse_int=integer)
    except UnicodeDecodeError as fault:
        raise NoJson(f"is not UTF-8 (byte {fault.start})", cut=False) from fault
    except json.JSONDecodeError as fault:
        text = fault.doc.rstrip()
        begun = text.startswith("{")
        cut = begun and (fault.pos >= len(text) or fault.msg.startswith("Unterminated"))
        raise NoJson(f"is not JSON: {fault.msg} at character {fault.pos}", cut=cut) from fault
    except (ValueError, RecursionError) as fault:
        raise NoJson(f"is JSON that cannot be read: {fault}", cut=False) from fault
    if not isinstance(value, dict):
        raise NoJson(f"is {shown(value)}, not a JSON object", cut=False)
    return value
