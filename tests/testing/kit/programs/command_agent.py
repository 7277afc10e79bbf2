"""A command agent that plays the act in the file that KIT_ACT names; its memory is in KIT_PEER."""
# Importing pathlib would take longer than all the rest.
# ruff: noqa: PTH118

import base64
import json
import os
import sys
import time

TOOLS = ("read", "write")


def main() -> None:
    with open(os.environ["KIT_ACT"], encoding="utf-8") as file:
        act = json.load(file)
    with open(os.environ["UWF_REQUEST"], encoding="utf-8") as file:
        request = json.load(file)
    if act["do"] == "lost":
        return reply(error={"kind": "session_lost", "message": "there is no such session"})
    if request["mode"] == "fork":
        return reply(sessionId=new_session(texts(request["session"])))
    text = request["prompt"] if request["mode"] == "run" else ask_text(request)
    session = request["session"]
    if session is None or act["do"] == "replaced":
        session = new_session([])
    event(session=session)
    remember(session, text)
    narrowed = TOOLS if request.get("tools") is None else request["tools"]
    offered = [name for name in TOOLS if name in narrowed]
    with open(peer("offered.json"), "w", encoding="utf-8") as file:
        json.dump(offered, file)
    return play(act, session, request)


def play(act: dict, session: str, request: dict) -> None:
    do, text = act["do"], act["text"]
    if do in ("spawn", "spawn_and_say") and os.fork() == 0:
        os.setsid()
        time.sleep(20)
    if do == "say_answer":
        text = request["answer"][act["name"]]
    elif do == "write":
        with open(act["name"], "w", encoding="utf-8") as file:
            file.write(text)
    elif do == "say_variable":
        text = os.environ.get(act["name"], "unset")
    elif do == "read_stdin":
        sys.stdin.read()
    elif do == "close_stdin":
        os.close(0)
    elif do in FAULTS:
        return FAULTS[do](act)
    event(turn={"text": text})
    usage = {name: value for name, value in (act["usage"] or {}).items() if value is not None}
    answer = act["structured"] if do == "structured" else text
    reply(output=answer, sessionId=session, usage=usage, denials=["shell"] * (do == "deny"))
    if do == "hang_after":
        time.sleep(20)
    return None


def crash(act: dict) -> None:
    print("it went wrong", file=sys.stderr)
    sys.exit(act["code"])


def cut(act: dict) -> None:
    whole = json.dumps({"output": act["text"]})
    sys.stdout.write(whole[: len(whole) // 2])


def say_bytes(act: dict) -> None:
    sys.stdout.buffer.write(b'{"output": "' + base64.b64decode(act["dataBase64"]) + b'"}\n')


FORM = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
FAULTS = {
    "question": lambda act: reply(
        error={"kind": "needs_answer", "message": act["text"], "form": FORM}
    ),
    "fail": lambda act: reply(
        error={"kind": act["kind"], "message": "as it was told", "until": act["until_ms"]}
    ),
    "crash": crash,
    "garbage": lambda act: print("<html>this is no JSON</html>"),
    "cut": cut,
    "silence": lambda act: None,
    "say_bytes": say_bytes,
    "hang": lambda act: time.sleep(20),
    "spawn": lambda act: time.sleep(20),
}


def ask_text(request: dict) -> str:
    return f"{request['record']}\n{request['question']}"


def peer(name: str) -> str:
    return os.path.join(os.environ["KIT_PEER"], name)


def texts(session: str) -> list[str]:
    with open(peer(session), encoding="utf-8") as file:
        return json.load(file)


def new_session(known: list[str]) -> str:
    session = f"s-{os.urandom(4).hex()}"
    write(session, known)
    return session


def remember(session: str, text: str) -> None:
    write(session, [*texts(session), text])
    with open(peer("heard.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(text) + "\n")


def write(session: str, known: list[str]) -> None:
    with open(peer(session), "w", encoding="utf-8") as file:
        json.dump(known, file)


def reply(**fields) -> None:
    print(json.dumps(fields), flush=True)


def event(**fields) -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


main()
