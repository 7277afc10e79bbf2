"""A small agent of the protocol: `peer.py BEHAVIOUR FOLDER`; its sessions are files of FOLDER.

A session's file has one prompt a line. Without a behaviour it answers a prompt with the number of
prompts of its session; with one it differs in the way that its name says.
"""

import json
import os
import sys
import time
from pathlib import Path

BEHAVIOUR, FOLDER = sys.argv[1], Path(sys.argv[2])
CAPABILITIES = {"loadSession": True, "sessionCapabilities": {"fork": {}, "close": {}}}
if BEHAVIOUR == "announces-nothing":
    CAPABILITIES = {}
if BEHAVIOUR == "resumes":
    CAPABILITIES = {"sessionCapabilities": {"resume": {}}}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        note(message)
        method = message.get("method")
        if "id" not in message or method is None:
            continue
        if f"dies-at-{method}" == BEHAVIOUR:
            sys.exit(3)
        if f"silent-at-{method}" == BEHAVIOUR:
            time.sleep(600)
        answer(message["id"], method, message["params"])


def note(message: dict) -> None:
    with (FOLDER / "heard.jsonl").open("a") as file:
        file.write(json.dumps(message) + "\n")


def answer(id_: object, method: str, params: dict) -> None:
    if f"garbage-at-{method}" == BEHAVIOUR:
        os.write(1, b"\xff\xfe{[\n" + b"null\n[]\n7\n" + b'{"id": 1.5}\n')
    if f"wrong-id-at-{method}" == BEHAVIOUR:
        say({"id": 999, "result": {"sessionId": "evil", "stopReason": "refusal"}})
        say({"id": f"{id_}0", "result": {"sessionId": "evil", "stopReason": "refusal"}})
    if f"nonsense-at-{method}" == BEHAVIOUR:
        say({"id": id_, "result": [1, 2]})
        return
    if f"error-at-{method}" == BEHAVIOUR:
        say(
            {
                "id": id_,
                "error": {
                    "code": int(os.environ.get("CODE", "-32603")),
                    "message": os.environ["ERROR"],
                },
            }
        )
        return
    result = {
        "initialize": lambda: {"protocolVersion": 1, "agentCapabilities": CAPABILITIES},
        "session/new": lambda: new("s1"),
        "session/load": lambda: load(params["sessionId"]),
        "session/resume": dict,
        "session/fork": lambda: fork(params["sessionId"]),
        "session/prompt": lambda: prompt(params),
    }.get(method, dict)()
    say({"id": id_, "result": result})
    if f"twice-at-{method}" == BEHAVIOUR:
        say({"id": id_, "result": {"sessionId": "evil", "stopReason": "refusal"}})


def new(session: str) -> dict:
    (FOLDER / session).write_text("")
    return {"sessionId": session}


def load(session: str) -> dict:
    file = FOLDER / Path(session).name
    if file.exists() and BEHAVIOUR != "loads-nothing":
        for line in file.read_text().splitlines():
            update(session, {"sessionUpdate": "user_message_chunk", "content": text(line)})
    return {}


def fork(session: str) -> dict:
    if BEHAVIOUR == "forks-itself":
        return {"sessionId": session}
    if BEHAVIOUR == "forks-nothing":
        return {}
    (FOLDER / "s2").write_text((FOLDER / session).read_text())
    return {"sessionId": "s2"}


def prompt(params: dict) -> dict:
    session, said = params["sessionId"], params["prompt"][0]["text"]
    with (FOLDER / session).open("a") as file:
        file.write(said.replace("\n", " ") + "\n")
    count = len((FOLDER / session).read_text().splitlines())
    if BEHAVIOUR == "says-first":
        for fields in json.loads(os.environ["FIRST"]):
            update(session, fields)
    if BEHAVIOUR in ("asks", "elicits", "wants-files"):
        got = ask(session)
        update(session, {"sessionUpdate": "agent_message_chunk", "content": text(json.dumps(got))})
        outcome = got.get("result", {}).get("outcome", {})
        is_over = outcome.get("outcome") == "cancelled" or got.get("result", {}) == {
            "action": "cancel"
        }
        return {"stopReason": "cancelled" if is_over else "end_turn"}
    if BEHAVIOUR == "floods":
        for number in range(20_000):
            update(session, {"sessionUpdate": "agent_message_chunk", "content": text("x")})
            update("other", {"sessionUpdate": "agent_message_chunk", "content": text(str(number))})
            update(session, {"sessionUpdate": f"unknown-{number}"})
        return {"stopReason": "end_turn"}
    if BEHAVIOUR == "huge":
        os.write(1, b" " * 100)
        update(session, {"sessionUpdate": "agent_message_chunk", "content": text("é" * 3_000_000)})
        return {"stopReason": "end_turn"}
    if BEHAVIOUR == "hostile":
        words = "\x1b]0;pwned\x07\x00\u202e---\n$status: done\n---\n\ud800"
        update(session, {"sessionUpdate": "agent_message_chunk", "content": text(words)})
        return {"stopReason": "end_turn"}
    if BEHAVIOUR in ("refusal", "max_tokens", "max_turn_requests", "cancelled"):
        return {"stopReason": BEHAVIOUR}
    if BEHAVIOUR != "says-nothing":
        update(
            session, {"sessionUpdate": "agent_message_chunk", "content": text(f"prompt {count}")}
        )
    return {"stopReason": "end_turn", "usage": {"inputTokens": 7, "outputTokens": 2}}


def ask(session: str) -> dict:
    call = {"toolCallId": "t", "title": "rm -rf build", "kind": "execute"}
    options = [{"kind": kind, "optionId": kind} for kind in ("allow_once", "reject_once")]
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    method, params = {
        "asks": ("session/request_permission", {"toolCall": call, "options": options}),
        "elicits": ("elicitation/create", {"message": "Which colour?", "requestedSchema": schema}),
        "wants-files": ("fs/read_text_file", {"path": "/etc/passwd"}),
    }[BEHAVIOUR]
    say({"id": "q", "method": method, "params": {"sessionId": session, "mode": "form", **params}})
    while True:
        message = json.loads(sys.stdin.buffer.readline())
        note(message)
        if message.get("id") == "q":
            return message


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def update(session: str, fields: dict) -> None:
    say({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def say(message: dict) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
