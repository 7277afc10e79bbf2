"""A session as a file of JSON lines, in no provider's form: version 1.

    {"v": 1, "type": "session", "id": "…", "createdMs": 0, "forkedFrom": null}
    {"type": "message", "role": "system|user|assistant", "text": "…", "reasoning": "…",
     "toolCalls": [{"id": "…", "name": "…", "arguments": "…"}], "extra": {…}, "service": "…"}
    {"type": "answer", "id": "…", "text": "…", "isError": false,       the result of a call
     "image": {"sha256": "…", "mediaType": "image/png"}}    a file of the folder `images` beside it
    {"type": "rejected", "ids": ["…"], "text": "…"}    the service rejected the images of results
    {"type": "left_out", "ids": ["…"]}       results left out from then on, to fit into the window
    {"type": "summary", "end": 1, "text": "…"}    replaces the work of so many messages
    {"type": "asked", "id": "…"}             a person is asked about this call
    {"type": "permission", "answer": "step|never", "step": 1}    what a person allows from then on

`extra` is what the model's service gets back (thought signatures, reasoning), in its own form, and
`service` the one that sent it.

A line is written whole, as soon as the thing has happened; what a killed process had begun to write
is cut off by the next one. A call without an answer was under way when its process died: the next
one answers it with that.
"""

import contextlib
import fcntl
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from uwf_agent_builtin.sessions.images import GONE, SessionImages
from uwf_agent_builtin.window import LEFT_OUT, Size, size_of, summarized
from uwf_core.api import SessionLost, ToolCall
from uwf_llm.chat import Image, Message

VERSION = 1
CRASHED = (
    "[no result: the process ended while this call was under way. It may have been done in part: "
    "look before you do it again]"
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass
class Transcript:
    """A session that is being added to.

    Attributes:
        messages: the conversation as sent to the model; answers are messages of the role `tool`.
        size: of all messages.
        earlier: how many messages there were when it was opened.
        lines: the number of lines in its file after the first; a fork can end at such a number.
        asked: the call that a person was asked about last.
        permissions: what persons allowed: `step` or `never`, and the number of the step.
        pending: calls without an answer, if it was opened to run them now.
    """

    id: str
    file: Path
    messages: list[Message] = field(default_factory=list)
    size: Size = field(default_factory=Size)
    earlier: int = 0
    lines: int = 0
    asked: str | None = None
    permissions: list[tuple[str, int]] = field(default_factory=list)
    pending: list[ToolCall] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)
    _descriptor: int = -1

    def own_ids(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls of a reply with ids that no call before them has: some servers count anew in
        each reply, and a result is known by its call's id.
        """
        named = list[ToolCall]()
        for call in calls:
            name, number = call.id, 2
            while name in self._ids or any(name == each.id for each in named):
                name, number = f"{call.id}-{number}", number + 1
            named.append(replace(call, id=name))
        return tuple(named)

    def add(self, message: Message) -> None:
        """Add what was said by the user or the model."""
        line: dict[str, Any] = {"type": "message", "role": message.role, "text": message.text}
        if message.reasoning:
            line["reasoning"] = message.reasoning
        if message.tool_calls:
            line["toolCalls"] = [
                {"id": call.id, "name": call.name, "arguments": call.arguments}
                for call in message.tool_calls
            ]
        if message.extra:
            line |= {"extra": message.extra, "service": message.service}
        self._write(line)
        self._append(_sendable(message))

    def answer(
        self, call_id: str, text: str, *, is_error: bool = False, image: Image | None = None
    ) -> None:
        """Add the result of a call."""
        line = {"type": "answer", "id": call_id, "text": text, "isError": is_error}
        if image is not None:
            line["image"] = self._images.keep(image)
        self._write(line)
        images = () if image is None else (image,)
        self._append(Message(role="tool", text=text, tool_call_id=call_id, images=images))

    def leave_out(self, ids: list[str]) -> None:
        """Leave the results of these calls out from now on; the file keeps them."""
        self._write({"type": "left_out", "ids": ids})
        self._replace(dict.fromkeys(ids, LEFT_OUT))

    def reject_images(self, ids: Sequence[str], text: str) -> None:
        """Send the images of these results no more; `text`, the reason, takes their place."""
        self._write({"type": "rejected", "ids": [*ids], "text": text})
        self._replace(dict.fromkeys(ids, text))

    def summarize(self, end: int, text: str) -> None:
        """Let a summary replace the work of the first messages; the file keeps them."""
        self._write({"type": "summary", "end": end, "text": text})
        self._summarized(end, text)

    def ask(self, call_id: str) -> None:
        """Keep that a person is asked about a call."""
        self._write({"type": "asked", "id": call_id})
        self.asked = call_id

    def permit(self, answer: str, step: int) -> None:
        """Keep what a person allows."""
        self._write({"type": "permission", "answer": answer, "step": step})
        self.permissions.append((answer, step))

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _append(self, message: Message) -> None:
        self.messages.append(message)
        self._ids.update(call.id for call in message.tool_calls)
        self.size = self.size.plus(size_of(message))

    def _summarized(self, end: int, text: str) -> None:
        self.messages = summarized(self.messages, end, text)
        self.size = Size()
        for each in self.messages:
            self.size = self.size.plus(size_of(each))

    @property
    def _images(self) -> SessionImages:
        return SessionImages(self.file.with_name("images"))

    def _replace(self, texts: Mapping[str, str]) -> None:
        """Put these texts, by call, in the place of results."""
        for at, each in enumerate(self.messages):
            call_id = each.tool_call_id
            if call_id is not None and call_id in texts and each.text != LEFT_OUT:
                short = Message(role="tool", text=texts[call_id], tool_call_id=call_id)
                self.messages[at] = short
                self.size = self.size.minus(size_of(each)).plus(size_of(short))

    def _write(self, line: dict[str, Any]) -> None:
        # ASCII, because a model may write lone surrogates.
        data = json.dumps(line, ensure_ascii=True).encode() + b"\n"
        written = 0
        while written < len(data):
            written += os.write(self._descriptor, data[written:])
        self.lines += 1

    def lock(self) -> None:
        """Open the file for adding; nobody else may add to it meanwhile.

        Raises:
            SessionLost: somebody does.
        """
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(self.file, flags, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            self.close()
            raise SessionLost(
                f"the session {self.id} is in use by another process", session=self.id
            ) from fault


class Sessions:
    """The sessions of one agent, in its own folder (0700, files 0600)."""

    def __init__(self, state_dir: str) -> None:
        self._folder = Path(state_dir, "sessions")

    def new(self, forked_from: str | None = None) -> Transcript:
        """A session in which nothing was said yet."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        session = f"builtin-{os.urandom(8).hex()}"
        transcript = Transcript(session, self._folder / f"{session}.jsonl")
        transcript.lock()
        head = {
            "v": VERSION,
            "type": "session",
            "id": session,
            "createdMs": time.time_ns() // 1_000_000,
            "forkedFrom": forked_from,
        }
        transcript._write(head)
        transcript.lines = 0
        return transcript

    def open(self, session: str, *, keep_pending: bool = False) -> Transcript:
        """Open a session to continue it. Calls without an answer are answered by that, or kept as
        `pending` if the person who was asked about one has decided.

        Raises:
            SessionLost: it is not there, cannot be read, or is in use.
        """
        transcript = Transcript(session, self._existing(session))
        transcript.lock()
        try:
            _load(transcript, keep_pending=keep_pending)
        except BaseException:
            transcript.close()
            raise
        transcript.earlier = len(transcript.messages)
        return transcript

    def fork(self, session: str, at: str | None = None) -> str:
        """A session that knows the same, or what was known after `at` lines; its id.

        Raises:
            SessionLost: there is no such session, or it has fewer lines.
        """
        old = Transcript(session, self._existing(session))
        lines = _lines(old)[1:]
        if at is not None:
            if not at.isdecimal() or int(at) > len(lines):
                raise SessionLost(f"the session {session} has no place {at!r}", session=session)
            lines = lines[: int(at)]
        forked = self.new(session)
        try:
            for line in lines:
                forked._write(line)
        finally:
            forked.close()
        return forked.id

    def _existing(self, session: str) -> Path:
        file = self._folder / f"{session}.jsonl"
        if not _NAME.fullmatch(session) or not file.is_file():
            raise SessionLost(f"there is no session {session!r}", session=session)
        return file


def _load(transcript: Transcript, *, keep_pending: bool = False) -> None:
    """Read the file; what a killed process left half written or half done is put right."""
    lines = _lines(transcript, repair=True)
    transcript.lines = len(lines) - 1
    open_calls: dict[str, ToolCall] = {}
    replaced: dict[str, str] = {}
    for line in lines[1:]:
        match line.get("type"):
            case "message":
                message = _message(line)
                _close_calls(transcript, open_calls)
                transcript._append(message)
                open_calls.update({call.id: call for call in message.tool_calls})
            case "answer":
                open_calls.pop(line["id"], None)
                transcript._append(_answer(line, transcript._images))
            case "left_out" | "rejected":
                replaced |= dict.fromkeys(line["ids"], line.get("text", LEFT_OUT))
            case "summary":
                transcript._summarized(line["end"], line["text"])
            case "asked":
                transcript.asked = line["id"]
            case "permission":
                transcript.permissions.append((line["answer"], line["step"]))
    if keep_pending and transcript.asked in open_calls:
        transcript.pending, open_calls = list(open_calls.values()), {}
    for call in list(open_calls):
        transcript.answer(call, CRASHED, is_error=True)
    transcript._replace(replaced)


def _close_calls(transcript: Transcript, open_calls: dict[str, ToolCall]) -> None:
    """Answer what was never answered before something else was said."""
    for call in open_calls:
        transcript._append(Message(role="tool", text=CRASHED, tool_call_id=call))
    open_calls.clear()


def _lines(transcript: Transcript, *, repair: bool = False) -> list[dict[str, Any]]:
    """The whole lines of a file; a last one without its end is cut off."""
    data = transcript.file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if repair and len(whole) < len(data):
        with contextlib.suppress(OSError):  # it is passed over as well if it stays
            os.truncate(transcript.file, len(whole))
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
        head = lines[0]
        if head["type"] != "session" or head["v"] > VERSION:
            raise ValueError(f"version {head.get('v')} is not known here")
    except (ValueError, LookupError, TypeError) as fault:
        raise SessionLost(
            f"the session {transcript.id} cannot be read: {fault}", session=transcript.id
        ) from fault
    return lines


def _message(line: dict[str, Any]) -> Message:
    calls = tuple(
        ToolCall(id=call["id"], name=call["name"], arguments=call["arguments"])
        for call in line.get("toolCalls", ())
    )
    return _sendable(
        Message(
            role=line["role"],
            text=line["text"],
            reasoning=line.get("reasoning", ""),
            tool_calls=calls,
            extra=line.get("extra", {}),
            service=line.get("service", ""),
        )
    )


def _answer(line: dict[str, Any], images: SessionImages) -> Message:
    image = images.load(line["image"]) if "image" in line else None
    text = GONE if image is None and "image" in line else line["text"]
    found = () if image is None else (image,)
    return Message(role="tool", text=text, tool_call_id=line["id"], images=found)


def _sendable(message: Message) -> Message:
    """A message to send again: some servers reject arguments that are not a JSON object."""
    if not any(_is_broken(call.arguments) for call in message.tool_calls):
        return message
    calls = tuple(
        replace(call, arguments="{}") if _is_broken(call.arguments) else call
        for call in message.tool_calls
    )
    return replace(message, tool_calls=calls)


def _is_broken(arguments: str) -> bool:
    try:
        return not isinstance(json.loads(arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return True
