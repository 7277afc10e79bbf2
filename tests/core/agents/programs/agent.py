"""A command agent for tests: `agent.py SCENARIO --thread … --role … --prompt … --mode … …`."""
# Importing pathlib would take longer than all the rest.
# ruff: noqa: PTH104, PTH108, PTH109, PTH110, PTH116

import json
import os
import signal
import sys
import time


def options() -> dict[str, str]:
    words = sys.argv[2:]
    return {words[at][2:]: words[at + 1] for at in range(0, len(words), 2)}


def request() -> dict:
    with open(os.environ["UWF_REQUEST"], encoding="utf-8") as file:
        return json.load(file)


def reply(**fields) -> None:
    print(json.dumps(fields), flush=True)


def event(**fields) -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def echo() -> None:
    """Say what we were given."""
    path = os.environ["UWF_REQUEST"]
    reply(
        output={
            "argv": sys.argv[2:],
            "request": request(),
            "path": path,
            "mode": oct(os.stat(path).st_mode & 0o777),
            "cwd": os.getcwd(),
            "hello": os.environ.get("HELLO"),
        }
    )


def text() -> None:
    print("some noise")
    print('{"output": "not this one"}')
    reply(
        output="---\n$status: done\n---\n",
        sessionId="s-1",
        usage={"inputTokens": 3, "costUsd": 0.25, "unknownCount": 1},
        turns=[{"text": "one"}, {"role": "tool", "text": "two", "toolCalls": None}],
        model="m",
        agentVersion="7",
        stopReason="end",
        denials=["no shell"],
        somethingNew=True,
    )


def session() -> None:
    """Continue what is asked for, and fork and ask."""
    given = options()
    if given["mode"] == "fork":
        reply(sessionId=given["session"] + "-fork")
    else:
        reply(output="said", sessionId=given.get("session", "new-1"))


def forgetful() -> None:
    reply(output="said", sessionId="another")


def same_fork() -> None:
    reply(sessionId=options()["session"])


def no_session() -> None:
    reply(output="said")


def events() -> None:
    """Events as they happen; some are wrong."""
    event(session="s-9")
    event(turn={"text": "first"})
    with open(os.environ["UWF_EVENTS"], "ab") as file:
        file.write(b"\xff\xfe garbage\n[1, 2]\n{}\n")
        file.write(b'{"usage": {"inputTokens": "many"}}\n')
        file.write(b'{"turn": {"text": 5}}\n')
    event(turn={"index": 4, "text": "fifth", "usage": {"outputTokens": 2}})
    event(usage={"outputTokens": 2})
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps({"turn": {"text": "without a line end"}}))
    reply(output="done")


def live() -> None:
    """A turn, then wait until the test saw it."""
    event(turn={"text": "now"})
    while not os.path.exists("seen"):
        time.sleep(0.01)
    reply(output="done")


def lively() -> None:
    """Longer than the idle limit in all, but never silent."""
    for number in range(24):
        time.sleep(0.25)
        event(turn={"text": str(number)})
    reply(output="done")


def silent() -> None:
    event(session="s-2")
    time.sleep(60)


def deaf() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    event(session="s-3")
    time.sleep(60)


def daemon() -> None:
    """Leave a grandchild behind that holds stdout open."""
    if os.fork() == 0:
        os.setsid()
        with open("grandchild.part", "w") as file:
            file.write(str(os.getpid()))
        os.rename("grandchild.part", "grandchild")
        time.sleep(60)
    while not os.path.exists("grandchild"):
        time.sleep(0.01)
    reply(output="done")


def crash() -> None:
    event(session="s-4")
    print("\x1b[31mbad\x1b[0m things \x00 happened\xff", file=sys.stderr)
    sys.exit(3)


def crash_after_reply() -> None:
    reply(output="done")
    sys.exit(4)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def nothing() -> None:
    pass


def blank() -> None:
    reply(output="  \n", sessionId="s-5")


def garbage() -> None:
    print("Traceback \x1b[31m(most recent call last)")


def binary() -> None:
    sys.stdout.buffer.write(b'{"output": "\xff\xfe"}\n')


def cut() -> None:
    sys.stdout.write('{"output": "it began wel')


def a_list() -> None:
    print("[1]")


def deep() -> None:
    print('{"output": ' + "[" * 100_000)


def not_a_number() -> None:
    print('{"output": {"$status": "done", "x": NaN}}')


def wrong() -> None:
    """A reply with the fields of the request's instruction."""
    print(options()["prompt"])


def fail() -> None:
    print(options()["prompt"])
    sys.exit(1)


def much() -> None:
    block = b"x" * (1 << 20)
    for _ in range(100):
        sys.stdout.buffer.write(block)


def much_in_events() -> None:
    line = json.dumps({"turn": {"index": 0, "text": "x" * 100_000}}) + "\n"
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        for _ in range(300):
            file.write(line)
            file.flush()
            time.sleep(0.001)
    time.sleep(60)


def noise_in_events() -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        for _ in range(200):
            file.write("noise " * 17_000 + "\n")
    reply(output="done")


def noisy_lines_in_events() -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write("noise\n" * 1_000_000)
    reply(output="done")


def _flood(line: str, times: int = 150_000) -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write((line + "\n") * times)
    reply(output="done")


def flood_of_turns() -> None:
    _flood('{"turn": {"text": "x"}}')


def flood_of_states() -> None:
    _flood('{"turn": {"index": 0, "text": "x"}}')


def flood_of_sessions() -> None:
    _flood('{"session": "s"}')


def flood_of_usages() -> None:
    _flood('{"usage": {"outputTokens": 1}}')


def flood_in_the_reply() -> None:
    reply(output="done", turns=[{"text": "x"}] * 50_000)


def long_numbers() -> None:
    """5,000 digits, which Python itself refuses to read and to write."""

    def written(value: dict) -> str:
        return json.dumps(value).replace('"?"', "9" * 5_000)

    event(usage={"outputTokens": 2})
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write(written({"usage": {"outputTokens": 3, "inputTokens": "?"}}) + "\n")
    usage = {"inputTokens": "?", "outputTokens": 10**200, "turns": 1}
    print(written({"output": {"$status": "done", "count": "?"}, "usage": usage}))


def removes() -> None:
    os.unlink(os.environ["UWF_REQUEST"])
    os.unlink(os.environ["UWF_EVENTS"])
    reply(output="done")


globals()[sys.argv[1]]()
