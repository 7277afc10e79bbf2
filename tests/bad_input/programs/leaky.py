"""A command agent that says secrets in every place and form that a reply has: `leaky.py HOW …`.

The secrets stand in $LEAK as a JSON list, since the tests must not rely on how we got them.
"""

import base64
import json
import os
import sys
import urllib.parse

SECRETS = json.loads(os.environ["LEAK"])


def forms(secret: str) -> list[str]:
    data = secret.encode()
    return [
        secret,
        json.dumps(secret)[1:-1],
        urllib.parse.quote(secret, safe=""),
        urllib.parse.quote_plus(secret),
        base64.b64encode(data).decode(),
        base64.b64encode(b"x" + data).decode(),
        base64.b64encode(b"xy" + data).decode(),
        base64.urlsafe_b64encode(data).decode(),
        base64.b64encode(b"user:" + data).decode(),
    ]


ALL = " | ".join(form for secret in SECRETS for form in forms(secret))


def event(**fields) -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def turns() -> None:
    event(session="s-1")
    call = {"id": "c1", "name": "shell", "arguments": json.dumps({"cmd": ALL}), "result": ALL}
    event(turn={"text": ALL, "reasoning": ALL, "toolCalls": [call]})
    for secret in SECRETS:  # a turn that grows, cut anywhere
        for end in range(1, len(secret) + 1):
            event(turn={"index": 5, "text": "the key is " + secret[:end]})
        event(turn={"index": 6, "text": secret[: len(secret) // 2]})
        event(turn={"index": 7, "text": secret[len(secret) // 2 :]})


def text() -> None:
    turns()
    print("noise " + ALL)
    body = f"---\n$status: done\nnote: {json.dumps(ALL)}\n---\n{ALL}\n"
    fields = {"stopReason": ALL, "denials": [ALL], "model": ALL, "agentVersion": ALL}
    print(json.dumps({"output": body, "sessionId": "s-1", **fields}))


def structured() -> None:
    turns()
    print(json.dumps({"output": {"$status": "done", "note": ALL}, "sessionId": "s-1"}))


def invalid() -> None:
    """Never what is wanted: corrections quote it."""
    note = {SECRETS[0]: SECRETS[0], "$status": SECRETS[0]}
    print(json.dumps({"output": {"$status": SECRETS[0], "note": [note]}, "sessionId": "s-1"}))


def crash() -> None:
    print(ALL, file=sys.stderr)
    sys.exit(3)


def fails() -> None:
    print(json.dumps({"error": {"kind": "bad_request", "message": ALL}}))
    sys.exit(1)


def garbage() -> None:
    print(ALL)


def asks() -> None:
    form = {"properties": {"key": {"const": SECRETS[0], "description": ALL}}}
    print(json.dumps({"error": {"kind": "needs_answer", "message": ALL, "form": form}}))


def bad_events() -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write(f"{ALL}\n" + json.dumps({"turn": {"text": 5, "role": ALL}}) + "\n")
    print(json.dumps({"output": "---\n$status: done\n---\n"}))


def suspends() -> None:
    output = {"$status": "$SUSPEND", "reason": ALL, "form": {"title": ALL}}
    print(json.dumps({"output": output}))


def session() -> None:
    """A session's id is what the agent says it is."""
    print(json.dumps({"output": {"$status": "done"}, "sessionId": SECRETS[0]}))


def session_told_early() -> None:
    event(session=SECRETS[0])
    event(turn={"text": "I begin"})
    sys.exit(3)


def session_of_an_error() -> None:
    error = {"kind": "bad_request", "message": "no"}
    print(json.dumps({"error": error, "sessionId": SECRETS[0]}))
    sys.exit(1)


globals()[sys.argv[1]]()
