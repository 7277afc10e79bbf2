"""`python tests/real_agents/record_claude_code.py PROGRAM [ROW…]`: each row as the program does it.

Writes tests/claude_code/transcripts/<version>/<row>.json: `{exitCode, stderr, lines}`, in which
paths, ids, ports and times are replaced.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from claude_code_peer import QUIET
from claude_code_rows import ROWS, WRAPPED, Row

from uwf_agent_claude_code.arguments import command_line
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_testing.model_server import ScriptedModel

OUT = Path(__file__).parents[1] / "claude_code" / "transcripts"
SESSION = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def main(program: str, names: list[str]) -> None:
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    folder = OUT / version.stdout.split()[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or ROWS:
        with tempfile.TemporaryDirectory(prefix="record-") as root:
            document = recorded(program, ROWS[name], Path(root))
        text = json.dumps(document, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(name, document["exitCode"], len(document["lines"]), flush=True)


def recorded(program: str, row: Row, root: Path) -> dict:
    for name in ("home", "work", "tmp"):
        (root / name).mkdir()
    options = ClaudeCodeOptions(command=program, allowed_tools=("Bash",), **row.options)
    session = [] if any(word in row.arguments for word in ("--resume", "--session-id")) else None
    argv = command_line(
        options,
        ["--session-id", SESSION] if session is None else session,
        None,
        WRAPPED if options.structured else None,
        trusted=False,
    )
    with ScriptedModel(row.turns, side_text="A title") as model:
        env = {
            "PATH": os.defpath,
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "ANTHROPIC_BASE_URL": model.anthropic_url,
            **QUIET,
            **row.env,
        }
        child = subprocess.Popen(
            [*argv, *row.arguments],
            cwd=root / "work",
            env={name: value for name, value in env.items() if value},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        child.stdin.write(b"do it")
        child.stdin.close()
        child.stdin = None
        if row.send is not None:
            await_moment(row, model, root)
            os.killpg(child.pid, getattr(signal, row.send))
        stdout, stderr = child.communicate(timeout=120)
    scrub = scrubbed(root, model.port)
    lines = [json.loads(scrub(line)) for line in stdout.decode().splitlines()]
    return {
        "exitCode": child.returncode,
        "stderr": scrub(stderr.decode()),
        "lines": [without_bulk(line) for line in lines],
    }


def await_moment(row: Row, model: ScriptedModel, root: Path) -> None:
    if row.when == "tool":
        while not (root / "work" / "begun").exists():
            time.sleep(0.1)
    else:
        while not any(request.dialect for request in model.requests):
            time.sleep(0.1)
    time.sleep(0.5)


def scrubbed(root: Path, port: int):
    seen = {SESSION: SESSION}

    def other(found: re.Match) -> str:
        number = len(seen)
        return seen.setdefault(found[0], f"{number:08d}-0000-4000-8000-000000000000")

    def scrub(text: str) -> str:
        text = text.replace(str(root), "/scratch").replace(f":{port}", ":1234")
        text = re.sub(r'"timestamp":"[^"]*"', '"timestamp":"2026-01-01T00:00:00.000Z"', text)
        return _UUID.sub(other, text)

    return scrub


def without_bulk(line: dict) -> dict:
    """Without lists of skills and commands, which say nothing of the format."""
    bulk = ("slash_commands", "agents", "skills", "plugins", "memory_paths", "mcp_servers")
    return {name: value for name, value in line.items() if name not in bulk}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
