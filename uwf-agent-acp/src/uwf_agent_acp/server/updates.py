"""What happens in a run, as updates of a session. Pure: an event in, updates out.

A step is a card: a tool call whose title names the role, and whose content becomes its output. What
the agent of the root thread says follows it as messages and thoughts; what the agents of called
threads say, of which several may work at the same time, is the content of their cards.

Source: https://agentclientprotocol.com/protocol/schema#sessionupdate
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from uwf_agent_acp.server.plan import Plan
from uwf_core.api import StepAsked, StepFailed, StepFinished, StepStarted, TurnTaken

Update = dict[str, Any]
MOST_CHARACTERS = 16_000
"""So much of the content of a tool call is shown."""
_KINDS = (
    ("execute", ("bash", "run", "exec", "shell", "command", "terminal")),
    ("edit", ("edit", "write", "patch", "replace")),
    ("search", ("grep", "glob", "search", "find")),
    ("fetch", ("fetch", "web", "http")),
    ("read", ("read", "list", "view", "cat")),
)


class Spoken(NamedTuple):
    """A turn: its number in the step, who speaks, text, reasoning, and the tool calls as stored."""

    place: int
    speaker: str
    text: str
    reasoning: str | None
    calls: Sequence[Mapping[str, Any]]


class _Card:
    """A step that is shown, and what of its turns was sent."""

    def __init__(self, id_: str, title: str, *, is_root: bool) -> None:
        self.id = id_
        self.title = title
        self.is_root = is_root
        self.sent: dict[tuple[int, str], str] = {}
        self.calls: dict[str, Update] = {}


class RunUpdates:
    """Translates the events of the runs of one prompt.

    Args:
        root: the thread of the session.
        plan: of its workflow; follows the events.

    Attributes:
        said: the messages since the last tool call.
    """

    def __init__(self, root: str, plan: Plan) -> None:
        self._root = root
        self._plan = plan
        self._cards: dict[tuple[str, int], _Card] = {}
        self.said = ""

    def of(self, event: object) -> Iterator[Update]:
        """The updates of an event of `uwf_core.api`."""
        for update in self._of(event):
            match update["sessionUpdate"]:
                case "tool_call":
                    self.said = ""
                case "agent_message_chunk":
                    self.said += update["content"]["text"]
            yield update

    def _of(self, event: object) -> Iterator[Update]:
        match event:
            case StepStarted():
                if event.thread == self._root:
                    self._plan.begin(event.role)
                    yield from self._plan.changed()
                id_ = f"{event.thread}/{event.number}.{event.attempt}"
                key, label = (event.thread, event.number), event.label or str(event.number)
                yield self.begin(
                    key, id_, step_title(event.role, label, event.alias or event.agent)
                )
            case TurnTaken():
                turn = event.turn
                calls = [_stored(call) for call in turn.tool_calls]
                spoken = Spoken(turn.index, turn.role, turn.text, turn.reasoning, calls)
                yield from self.spoken((event.thread, event.number), spoken)
            case StepFinished():
                yield from self._finished(event)
            case StepFailed():
                text = f"{event.kind}: {event.message}"
                yield self.end((event.thread, event.number), "failed", event.kind, text)
            case StepAsked():
                key = event.thread, event.number
                yield self.end(key, "completed", "asks", event.message)

    def begin(self, key: tuple[str, int], id_: str, title: str) -> Update:
        """Open the card of a step."""
        self._cards[key] = _Card(id_, title, is_root=key[0] == self._root)
        return {
            "sessionUpdate": "tool_call", "toolCallId": id_, "title": title, "kind": "think",
            "status": "in_progress",
        }  # fmt: skip

    def end(self, key: tuple[str, int], status: str, word: str, text: str) -> Update:
        """Close the card of a step; one that was not open is shown at once."""
        card, name = self._cards.pop(key, None), "tool_call_update"
        if card is None:
            card, name = _Card(f"{key[0]}/{key[1]}", f"step {key[1]}", is_root=False), "tool_call"
        closed = {"title": f"{card.title}: {word}", "kind": "think", "status": status}
        return {"sessionUpdate": name, "toolCallId": card.id, **closed, "content": _content(text)}

    def _finished(self, event: StepFinished) -> Iterator[Update]:
        key, label = (event.thread, event.number), event.label or str(event.number)
        if key not in self._cards:  # a call, which takes no turns
            id_ = f"{event.thread}/{event.number}"
            yield self.begin(key, id_, step_title(event.role, label, event.agent))
        status = str(event.output.get("$status", ""))
        leads = f"{status} → {event.leads_to}" if event.leads_to else status
        yield self.end(key, "completed", leads, fields_text(event.output))
        if event.thread == self._root:
            self._plan.finish(event.role)
            self._plan.begin(event.leads_to)
            yield from self._plan.changed()

    # -- turns -------------------------------------------------------------------------------------

    def spoken(self, key: tuple[str, int], turn: Spoken) -> Iterator[Update]:
        """What is new in a turn."""
        card = self._cards.get(key)
        if card is None:
            return
        if card.is_root:
            yield from self._chunks(card, turn)
        elif turn.text and card.sent.get((turn.place, "text")) != turn.text:
            card.sent[turn.place, "text"] = turn.text
            shown = {"toolCallId": card.id, "content": _content(turn.text)}
            yield {"sessionUpdate": "tool_call_update", **shown}
        for number, call in enumerate(turn.calls):
            yield from self._call(card, f"{card.id}/{turn.place}.{number}", call)

    def _chunks(self, card: _Card, turn: Spoken) -> Iterator[Update]:
        is_said = turn.speaker == "assistant"
        parts = (
            ("reasoning", turn.reasoning or "", "agent_thought_chunk"),
            ("text", turn.text, "agent_message_chunk" if is_said else "agent_thought_chunk"),
        )
        for part, text, name in parts:
            before = card.sent.get((turn.place, part), "")
            if text == before:
                continue
            is_continued = (before and text.startswith(before)) or not card.sent
            new = text[len(before) :] if is_continued else f"\n\n{text}"
            card.sent[turn.place, part] = text
            yield chunk(name, new, f"{card.id}/{turn.place}/{part}")

    def _call(self, card: _Card, id_: str, call: Mapping[str, Any]) -> Iterator[Update]:
        result = call["result"]
        status = "failed" if call["isError"] else "in_progress" if result is None else "completed"
        shown: Update = {"toolCallId": id_, "title": _call_title(call), "status": status}
        shown |= {"kind": _kind(call["name"]), "rawInput": _value(call["arguments"])}
        if result is not None:
            shown["content"] = _content(result)
        before = card.calls.get(id_)
        if shown != before:
            card.calls[id_] = shown
            name = "tool_call" if before is None else "tool_call_update"
            yield {"sessionUpdate": name, **shown}


def chunk(name: str, text: str, message: str | None = None) -> Update:
    """A piece of a text; pieces with the same message belong together."""
    whole = {"sessionUpdate": name, "content": {"type": "text", "text": text}}
    return whole if message is None else {**whole, "messageId": message}


def message_update(text: str) -> Update:
    """A message of uwf itself."""
    return chunk("agent_message_chunk", f"\n\n{text}\n")


def commands_update(commands: Mapping[str, str]) -> Update:
    """The commands that a message can be, with their descriptions; they begin with `/`."""
    offered = [
        {"name": name.removeprefix("/"), "description": text} for name, text in commands.items()
    ]
    return {"sessionUpdate": "available_commands_update", "availableCommands": offered}


def result_updates(id_: str, title: str, output: Mapping[str, Any], body: str) -> Iterator[Update]:
    """The result of a thread as its last message: what an agent above takes as the reply begins
    after the last tool call.
    """
    card = {"toolCallId": id_, "title": title, "kind": "other", "status": "completed"}
    yield {"sessionUpdate": "tool_call", **card}
    text = f"---\n{fields_text(output)}\n---\n{body}"
    yield chunk("agent_message_chunk", text.rstrip("\n") + "\n")


def step_title(role: str, label: str, agent: str) -> str:
    """The title of a step's card."""
    return f"{role} (step {label}, {agent})"


def fields_text(output: Mapping[str, Any]) -> str:
    """An output, a field a line, the status first: YAML whose values are JSON."""
    fields = sorted(output.items(), key=lambda each: each[0] != "$status")
    return "\n".join(f"{_key(name)}: {_json(value)}" for name, value in fields)


def _key(name: str) -> str:
    return name if name.replace("$", "").replace("_", "").isalnum() else _json(name)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _content(text: str) -> list[Update]:
    left = len(text) - MOST_CHARACTERS
    if left > 0:
        text = f"{text[:MOST_CHARACTERS]}\n… ({left} more characters)"
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def _stored(call: Any) -> dict[str, Any]:
    return {
        "id": call.id, "name": call.name, "arguments": call.arguments, "result": call.result,
        "isError": call.is_error,
    }  # fmt: skip


def _call_title(call: Mapping[str, Any]) -> str:
    arguments = " ".join(str(call["arguments"] or "").split())
    title = f"{call['name']} {arguments}".strip()
    return title if len(title) <= 100 else f"{title[:99]}…"


def _kind(name: str) -> str:
    words = name.casefold()
    return next((kind for kind, marks in _KINDS if any(each in words for each in marks)), "other")


def _value(arguments: str) -> Any:
    """Arguments that are a JSON object as such, anything else as text."""
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return found if isinstance(found, dict) else arguments
