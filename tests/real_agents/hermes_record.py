"""`python tests/real_agents/hermes_record.py HERMES [CASE…]`: what adapter and Hermes say to each
other, case by case, into tests/hermes/transcripts/VERSION/CASE.txt.

Lines begin with `>` (to Hermes), `<` (from it), `!` (its log: warnings, errors, how a turn ended).
Folders, ports and keys of the recording are replaced.

As `hermes_record.py --between HERMES FILE ARGUMENT…` it is the program that the adapter starts.
"""

import json
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

TRANSCRIPTS = Path(__file__).resolve().parents[1] / "hermes" / "transcripts"
KEPT = re.compile(r"\[(WARNING|ERROR)\] agent\.|Turn ended")
UNKNOWN = "00000000-dead-4000-8000-000000000000"


def between(program: str, file: str, arguments: list[str]) -> int:
    """Run the program and write down what passes; its exit code."""
    child = subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    lock = threading.Lock()

    def note(mark: str, line: bytes) -> None:
        with lock, open(file, "ab") as out:
            out.write(mark.encode() + b" " + line.rstrip(b"\n") + b"\n")

    def pass_on(mark: str, source: Any, target: Any) -> None:
        for line in source:
            if mark != "!" or KEPT.search(line.decode("utf-8", "replace")):
                note(mark, line)
            target.write(line)
            target.flush()
        if mark == ">":
            target.close()

    ways = (
        (">", sys.stdin.buffer, child.stdin),
        ("<", child.stdout, sys.stdout.buffer),
        ("!", child.stderr, sys.stderr.buffer),
    )
    threads = [threading.Thread(target=pass_on, args=way, daemon=True) for way in ways]
    for thread in threads:
        thread.start()
    code = child.wait()
    for thread in threads[1:]:
        thread.join()
    return code


def error(status: int, message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"status": status, "message": message, **more}}


def cases(tool: Any) -> dict[str, dict[str, Any]]:
    """What is recorded: `turns` of the model, `options`, `seconds`; `after`: what comes first."""
    rm = tool("terminal", command="rm -rf ./build")
    write = tool("write_file", path="a.txt", content="hello")
    usage = {"inputTokens": 20, "outputTokens": 5, "cacheReadTokens": 80}
    true = {"toolCalls": [tool("terminal", command="true")]}
    full = error(400, "maximum context length is 8192", code="context_length_exceeded")
    echo = {"text": "Interim.", "toolCalls": [tool("terminal", command="echo hi")]}
    sleep = {"text": "I wait.", "toolCalls": [tool("terminal", command="sleep 600")]}
    return {
        "say": {"turns": [{"text": "The answer.", "usage": usage}]},
        "tools": {
            "turns": [
                {"text": "I write.", "toolCalls": [write], "usage": usage},
                {**echo, "text": "I look.", "reasoning": "Is it there?", "usage": usage},
                {"text": "Done.", "usage": usage},
            ]
        },
        "denied": {"turns": [{"toolCalls": [rm]}, "Not done."], "options": {"permission": "deny"}},
        "allowed": {"turns": [{"toolCalls": [rm]}, "Done."], "options": {"permission": "allow"}},
        "asked": {"turns": [{"toolCalls": [rm]}, "Done."]},
        "auth": {"turns": [error(401, "wrong key")]},
        "forbidden": {"turns": [error(403, "forbidden")]},
        "no-credit": {"turns": [error(402, "insufficient credits")]},
        "no-model": {"turns": [error(404, "no such model")]},
        "rate-limited": {"turns": [error(429, "slow down", retryAfter="7")]},
        "bad-request": {"turns": [error(400, "no such parameter")]},
        "unavailable": {"turns": [error(503, "overloaded")]},
        "context-too-long": {"turns": [full]},
        "cut": {"turns": [{"text": "half of it, " * 9, "drop": "middle"}]},
        "cut-quietly": {"turns": [{"text": "half of it, " * 9, "drop": "quiet"}]},
        "output-limit": {"turns": [{"text": "too long ", "stopReason": "length"}]},
        "filtered": {"turns": [{"text": "No.", "stopReason": "content_filter"}]},
        "refused": {"turns": [{"refusal": "I will not."}]},
        "empty": {"turns": [{"text": ""}]},
        "garbage": {"turns": [{"raw": {"body": "<html>", "contentType": "text/html"}}]},
        "no-usage": {"turns": [{"text": "The answer.", "noUsage": True}]},
        "auth-after-tool": {"turns": [echo, error(401, "wrong key")]},
        "max-turns": {"turns": [true] * 90 + ["A summary."], "seconds": 500},
        "own-max-turns": {"turns": [true], "options": {"max_turns": 2}},
        "timeout": {"turns": [{"hang": "start"}], "seconds": 30},
        "timeout-in-tool": {"turns": [sleep], "seconds": 30},
        "continued": {"turns": ["The second answer."], "after": "say"},
        "continued-after-timeout": {"turns": ["I go on."], "after": "timeout-in-tool"},
        "lost": {"turns": ["No."], "session": UNKNOWN},
        "model": {
            "turns": ["The answer."],
            "options": {"model": "other", "provider": "custom", "mode": "dont_ask"},
        },
    }


def record(program: str, wanted: list[str]) -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    from hermes_world import World, tool

    every = cases(tool)
    with tempfile.TemporaryDirectory(prefix="hermes-record-") as folder:
        world = World(Path(folder, "w"), program)
        recorder = _Recorder(world, program, every)
        try:
            for name in wanted or [*every, "fork", "fork-lost", "dead-port", "unconfigured"]:
                recorder.record(name)
        finally:
            world.close()


class _Recorder:
    def __init__(self, world: Any, program: str, every: dict[str, dict[str, Any]]) -> None:
        self.world, self.program, self.every = world, program, every
        self.sessions: dict[str, str] = {}

    def record(self, name: str) -> None:
        from uwf_core.api import RunLimits, UwfError
        from uwf_testing.harness import RecordingSink

        case = self.every.get(name, {})
        file = self.world.root / f"{name}.txt"
        options = {**case.get("options", {}), **self._home(name), "command": self._between(file)}
        agent, sink = self.world.agent(**options), RecordingSink()
        limits = RunLimits(seconds=case.get("seconds", 120), grace_seconds=4.0)
        session = case.get("session") or self.sessions.get(case.get("after", ""))
        request = self.world.request(*case.get("turns", ["No."]), limits=limits, session=session)
        try:
            if name.startswith("fork"):
                which = self.sessions["say"] if name == "fork" else UNKNOWN
                outcome: Any = agent.fork(which, request)
            else:
                outcome = agent.run(request, sink)
        except UwfError as failure:
            outcome = repr(failure)
        self.sessions[name] = (sink.sessions or [""])[0]
        print(f"{name}: {outcome!s:.300}", flush=True)
        self._keep(name, file.read_text("utf-8"))

    def _between(self, file: Path) -> str:
        script = file.with_suffix(".sh")
        words = f'exec "{sys.executable}" "{__file__}" --between "{self.program}" "{file}" "$@"'
        script.write_text(f"#!/bin/sh\n{words}\n")
        script.chmod(0o755)
        return str(script)

    def _home(self, name: str) -> dict[str, str]:
        homes = {
            "dead-port": 'model: {default: m, provider: custom, base_url: "http://127.0.0.1:9/v1", '
            "api_key: sk-x, context_length: 200000}\nagent: {api_max_retries: 1}\n",
            "unconfigured": "{}\n",
        }
        if name not in homes:
            return {}
        home = self.world.root / f"home-{name}"
        home.mkdir()
        (home / "config.yaml").write_text(homes[name])
        return {"home": str(home)}

    def _keep(self, name: str, text: str) -> None:
        text = text.replace(str(self.world.root), "/w").replace(str(Path.home()), "/home")
        text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text)
        text = re.sub(r"uwf-hermes-\w+", "uwf-hermes-x", text)
        text = "".join(f"{_short(line)}\n" for line in text.splitlines())
        folder = TRANSCRIPTS / _version(text)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def _short(line: str) -> str:
    """Without the lists that are long and say nothing of the case."""
    if not line.startswith("< "):
        return line[:2000]
    message = json.loads(line[2:])
    update = message.get("params", {}).get("update", {})
    if update.get("sessionUpdate") == "available_commands_update":
        update["availableCommands"] = []
    if isinstance(message.get("result"), dict):
        message["result"].pop("authMethods", None)
    return "< " + json.dumps(message, ensure_ascii=False)


def _version(text: str) -> str:
    found = re.search(r'"agentInfo": \{[^}]*"version": "([^"]+)"', text)
    return found[1] if found else "unknown"


if __name__ == "__main__":
    if sys.argv[1] == "--between":
        sys.exit(between(sys.argv[2], sys.argv[3], sys.argv[4:]))
    record(sys.argv[1], sys.argv[2:])
