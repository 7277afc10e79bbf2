"""Plays a transcript of Hermes: `acp_peer.py FILE`, on the standard library alone.

What stands there as said to Hermes is waited for, method by method; what Hermes said is said again,
its answers with the ids that the client uses now.
"""

import json
import os
import sys
import time


def play(lines: list[str]) -> None:
    plugin = os.path.join(".hermes", "plugins", "uwf-role")  # noqa: PTH118
    if os.path.isdir(plugin) and "--without-plugin" not in sys.argv:  # noqa: PTH112
        with open(os.path.join(plugin, "in-force"), "w"):  # noqa: PTH118
            pass
    asked: dict[object, object] = {}  # ids of the recording -> ids of today
    for line in lines:
        mark, _, text = line.rstrip("\n").partition(" ")
        if mark == "!":
            os.write(2, text.encode() + b"\n")
        elif mark == ">":
            wait_for(json.loads(text), asked)
        else:
            say(text, asked)


def wait_for(expected: dict, asked: dict[object, object]) -> None:
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    heard = json.loads(line)
    wanted, got = expected.get("method", "an answer"), heard.get("method", "an answer")
    if wanted != got:
        os.write(2, f"the transcript has {wanted} here, and got {got}\n".encode())
        sys.exit(9)
    if "method" in expected and "id" in expected:
        asked[expected["id"]] = heard.get("id")


def say(text: str, asked: dict[object, object]) -> None:
    if text.startswith("{"):
        message = json.loads(text)
        if "method" not in message:
            message["id"] = asked.get(message["id"], message["id"])
        text = json.dumps(message)
    data = text.encode("utf-8", "surrogateescape") + b"\n"
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as file:
        lines = file.readlines()
    play(lines)
    if "--then-hang" in sys.argv:
        time.sleep(600)
    if "--then-exit" in sys.argv:
        return
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
