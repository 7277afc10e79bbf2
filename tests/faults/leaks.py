"""Known secrets, said by an agent in every form and place: nowhere on the disk, on no screen.

(`tests/bad_input/test_secrets.py` has the ways of people; here each form and place stands alone.)
"""

import base64
import itertools
import json
import os
import shutil
import urllib.parse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from tests.faults.forked import spread
from tests.faults.table import Case, Effort
from tests.faults.world import World

VALUES = {
    "a key": "sk-live-51H8a9Zq0TTx7",
    "with signs": "p+a/s=s?w&o%r#d\"'\\",
    "with blanks": "correct horse battery",
    "beyond ASCII": "pässwörd-日本語",
    "many lines": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----",
}


def _base64(value: str, before: str = "", *, url: bool = False) -> str:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    return encode((before + value).encode()).decode()


def _in_json(value: str) -> str:
    return json.dumps(value)[1:-1]


FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda value: value,
    "JSON": _in_json,
    "JSON within JSON": lambda value: json.dumps(json.dumps(value))[1:-1],
    "JSON, four deep": lambda value: _in_json(_in_json(_in_json(_in_json(value)))),
    "JSON, not ASCII": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "URL": lambda value: urllib.parse.quote(value, safe=""),
    "URL, as a form": urllib.parse.quote_plus,
    "base64": _base64,
    "base64, one further": partial(_base64, before="x"),
    "base64, of a sign-in": partial(_base64, before="user:"),
    "base64 for URLs": partial(_base64, url=True),
}

Play = dict[str, Any]
_DONE = {"$status": "done", "note": "x"}
PLACES: dict[str, Callable[[str], Play]] = {
    "the body": lambda said: {"output": _DONE, "body": f"It is {said}."},
    "a field": lambda said: {"output": {**_DONE, "note": f"<{said}>"}},
    "a typed field": lambda said: {"structured": {**_DONE, "note": said}},
    "a reply that is invalid": lambda said: {"output": f"no frontmatter: {said}"},
    "a wrong status": lambda said: {"output": {"$status": said}},
    "a key": lambda said: {"structured": {**_DONE, said: 1}},
    "a turn": lambda said: {"output": _DONE, "turns": [f"I see {said}"]},
    "reasoning": lambda said: {"output": _DONE, "turns": [{"text": "x", "reasoning": said}]},
    "a tool's arguments": lambda said: {"output": _DONE, "turns": [_tool(arguments=said)]},
    "a tool's result": lambda said: {"output": _DONE, "turns": [_tool(result=said)]},
    "a tool's name": lambda said: {"output": _DONE, "turns": [_tool(name=said)]},
    "a turn that grows": lambda said: {"output": _DONE, "turns": _growing(said)},
    "a denial": lambda said: {"output": _DONE, "denials": [said]},
    "the model's name": lambda said: {"output": _DONE, "model": said},
    "a failure": lambda said: {"fail": {"kind": "bad_request", "message": f"bad key {said}"}},
    "a suspension": lambda said: {"suspend": {"reason": said, "form": {"title": said}}},
    "a question": lambda said: {
        "question": {"message": said, "form": {"title": said}}, "output": _DONE
    },
}  # fmt: skip
"""Where an agent may say it; a new place is a line here."""


def _tool(**fields: str) -> Play:
    call = {"id": "c", "name": "shell", "arguments": "{}", "result": "", **fields}
    return {"text": "x", "toolCalls": [call]}


def _growing(said: str) -> list[Play]:
    """A turn that is told again and again, a few characters longer each time."""
    return [{"index": 0, "text": f"It is {said[:end]}"} for end in range(1, len(said) + 1, 3)]


class Leak(NamedTuple):
    """One way to say a secret."""

    value: str
    form: str
    place: str


def leaks(world: World, effort: Effort) -> Iterator[Case]:
    """Let the mock agent say each value in each form at each place."""
    cases = list(itertools.starmap(Leak, itertools.product(VALUES, FORMS, PLACES)))
    for leak, fault in spread(effort.sample(cases, 40), partial(_look, world), effort.workers):
        yield Case(f"{leak.value}, as {leak.form}, in {leak.place}", fault)


def _look(world: World, leak: Leak) -> str | None:
    mine = world.twin(world.root / f"home-{os.getpid()}")
    secret = VALUES[leak.value]
    script = world.root / f"script-{os.getpid()}.json"
    play = {"role": "writer", **PLACES[leak.place](FORMS[leak.form](secret))}
    script.write_text(json.dumps({"steps": [play]}))
    mine.env |= {"UWF_MOCK_SCRIPT": str(script), "SERVICE_TOKEN": secret}
    mine.put(None)
    commands = [
        ("thread", "start", "loop", "-p", "The task."),
        ("thread", "exec", "@last"),
        ("thread", "show", "@last"),
        ("thread", "read", "@last"),
        ("step", "turns", "@last"),
        ("thread", "export", "@last", "-o", "{home}/out.tar"),
        ("log", "list"),
    ]
    ended, acks = mine.play(commands)
    if ended.code or "Traceback" in ended.err or len(acks) < len(commands):
        return f"ended with {ended.code}: {ended.err[-300:]}"
    shown = ended.err + "".join(json.dumps(ack.document, ensure_ascii=False) for ack in acks)
    return _found(secret, shown.encode(), "the screen") or _on_disk(mine, secret)


def _on_disk(world: World, secret: str) -> str | None:
    """Where in the home a secret stands. The mock agent's own folder is its own affair."""
    shutil.rmtree(world.home / "agents")
    for file in world.home.rglob("*"):
        found = _found(secret, file.read_bytes(), file.name) if file.is_file() else None
        if found is not None:
            return found
    return None


def _found(secret: str, data: bytes, where: str) -> str | None:
    data = data.replace(b"\\", b"")  # JSON within JSON
    for form in {form.replace(b"\\", b"") for form in _telltale(secret)}:
        if form in data:
            place = data.index(form)
            return f"in {where}: {data[max(0, place - 30) : place + len(form) + 10]!r}"
    return None


def _telltale(secret: str) -> Iterator[bytes]:
    """What gives a secret away: any form of it, and of base64 what no neighbour changes."""
    for lines in (secret, *(line for line in secret.splitlines() if len(line) >= 16)):
        yield lines.encode()
        yield json.dumps(lines)[1:-1].encode()
        yield urllib.parse.quote(lines, safe="").encode()
        for ahead in range(3):
            encoded = base64.b64encode(b"x" * ahead + lines.encode())
            yield encoded[4 if ahead else 0 : -4]
            yield encoded[4 if ahead else 0 : -4].translate(bytes.maketrans(b"+/", b"-_"))
