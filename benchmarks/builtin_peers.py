"""The same commands by the builtin agent and by mini-swe-agent (its own settings), on the same
scripted model: requests, characters sent, processor time of the whole process and its commands.
`nox -s bench -- --peers --only builtin`; mini-swe-agent is installed into a separate environment.

Each request sends the whole conversation, so the characters of the first one count in all of them.
"""

import json
import os
import resource
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.figures import Figure
from uwf_testing.model_server import ScriptedModel

COMMANDS = 20
OUTPUTS = {"a word": 1, "500 characters": 10, "2,000 characters": 40}
"""The lines of a command's output, each of 50 characters; a word has no more."""
_SECONDS = 1800
_TEXT = "I run the next command and look at its output."
_TASK = "Count the parts of the project, one after another."
_MINI = """\
import sys
from pathlib import Path
import minisweagent, yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

url, task = sys.argv[1:]
config = yaml.safe_load((Path(minisweagent.__file__).parent / "config/mini.yaml").read_text())
model = config["model"] | {"model_kwargs": config["model"]["model_kwargs"] | {"api_base": url}}
del config["agent"]["mode"]
agent = DefaultAgent(
    LitellmModel(model_name="openai/scripted", **model),
    LocalEnvironment(**config["environment"]),
    **config["agent"],
)
sys.exit(agent.run(task)["exit_status"] != "Submitted")
"""
_MINI_ENV = {
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_API_KEY": "none",
}
_WORKFLOW = """\
version: 1
name: solve
roles:
  worker:
    goal: Solve the task.
    %s
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Do the task.}
    resume: {role: worker, prompt: Continue.}
  worker:
    done: {role: $END, prompt: Done.}
"""
_END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class _Run(NamedTuple):
    """A run: the characters of each request, and the seconds of the processor."""

    sent: tuple[int, ...]
    seconds: float


def beside_mini(folder: Path) -> Iterator[Figure]:
    """The builtin agent with all of its tools, and with `run_command` alone, which is what
    mini-swe-agent has.
    """
    try:
        python = _installed(folder / "mini")
    except (OSError, subprocess.SubprocessError) as error:
        print(f"bench: mini-swe-agent is left out: {error}", file=sys.stderr, flush=True)
        return
    mini = {output: _of_mini(folder, python, lines) for output, lines in OUTPUTS.items()}
    for tools, narrowed in {"all tools": "", "one tool": "tools: [run_command]"}.items():
        for output, lines in OUTPUTS.items():
            ours, theirs = _of_builtin(folder, lines, narrowed), mini[output]
            if lines == 1:
                yield _first(f"builtin, {tools}", ours, theirs)
            yield from _figures(f"builtin, {tools}, {output}", ours, theirs)


def _first(name: str, ours: _Run, mini: _Run) -> Figure:
    note = f"{mini.sent[0]:,} of mini-swe-agent"
    return Figure(f"{name}: first request", ours.sent[0], "characters", 5000, note)


def _figures(name: str, ours: _Run, mini: _Run) -> Iterator[Figure]:
    unit = "x mini-swe-agent"
    requests = len(ours.sent) / len(mini.sent)
    yield Figure(f"{name}: requests", requests, unit, 1.0, f"{len(ours.sent)}")
    sent = sum(ours.sent) / sum(mini.sent)
    yield Figure(f"{name}: sent", sent, unit, 1.0, f"{sum(ours.sent):,} characters")
    seconds = ours.seconds / mini.seconds
    yield Figure(f"{name}: run", seconds, unit, 0.25, f"{ours.seconds:.2f} s")


def _installed(folder: Path) -> Path:
    """The Python of an environment with mini-swe-agent."""
    venv.EnvBuilder(symlinks=True, with_pip=True).create(folder)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "mini-swe-agent>=2"]
    subprocess.run(install, check=True, capture_output=True, timeout=_SECONDS)
    return python


def _commands(lines: int) -> list[str]:
    output = r"'%50s\n' " + " ".join(["x"] * lines) if lines > 1 else r"'x%s\n'"
    return [f"printf {output} {number}" for number in range(COMMANDS)]


def _script(tool: str, commands: Sequence[str], last: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = [{"name": tool, "arguments": {"command": each}} for each in commands]
    return [{"text": _TEXT, "toolCalls": [each]} for each in (*calls, last)]


def _of_mini(folder: Path, python: Path, lines: int) -> _Run:
    end = {"name": "bash", "arguments": {"command": _END}}
    with ScriptedModel(_script("bash", _commands(lines), end)) as server:
        words = [str(python), "-c", _MINI, server.openai_url, _TASK]
        return _timed(server, words, folder, _MINI_ENV)


def _of_builtin(folder: Path, lines: int, narrowed: str) -> _Run:
    end = {"name": "resolve", "arguments": {"$status": "done"}}
    with ScriptedModel(_script("run_command", _commands(lines), end)) as server:
        home = folder / "home"
        home.mkdir(mode=0o700, exist_ok=True)
        settings = {
            "providers": {"here": {"baseUrl": server.openai_url}},
            "models": {"scripted": {"provider": "here", "name": "scripted"}},
            "defaultModel": "scripted",
            "defaultAgent": "worker",
            "agents": {"worker": {"use": "builtin", "options": {"allowShell": "workspace"}}},
        }
        (home / "config.yaml").write_text(json.dumps(settings), encoding="utf-8")
        (folder / "solve.yaml").write_text(_WORKFLOW % narrowed, encoding="utf-8")
        words = [sys.executable, "-m", "uwf_core", "run", "./solve.yaml", "-p", _TASK]
        return _timed(server, words, folder, {"UWF_HOME": str(home)})


def _timed(server: ScriptedModel, words: list[str], folder: Path, env: Mapping[str, str]) -> _Run:
    whole = {"PATH": os.environ["PATH"], "HOME": str(folder), **env}
    before = _processor_seconds()
    subprocess.run(words, cwd=folder, env=whole, check=True, capture_output=True, timeout=_SECONDS)
    sent = tuple(len(each.raw.decode()) for each in server.requests)
    return _Run(sent, _processor_seconds() - before)


def _processor_seconds() -> float:
    """Of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
