"""Where the real Hermes is tried: a home of its own, and one scripted model behind all calls."""

import os
import re
import threading
from pathlib import Path
from typing import Any

from uwf_agent_hermes.agent import HermesAgent
from uwf_agent_hermes.options import HermesOptions
from uwf_core.api import AgentContext, AgentRequest, AskRequest, RunLimits
from uwf_core.fields.records import read_record
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn

CONFIG = """
model: {{default: scripted, provider: custom, base_url: "{url}", api_key: sk-of-the-tests,
  context_length: 200000}}
security: {{tirith_enabled: false}}
display: {{inline_diffs: false}}
agent: {{api_max_retries: 1}}
skills: {{creation_nudge_interval: 0}}
memory: {{nudge_interval: 0}}
"""
SIDE = "A title"


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    """A use of a tool, as a script has it."""
    return {"name": name, "arguments": arguments}


class World:
    """One home of Hermes and one model for many calls.

    `plan` says what the model answers to a prompt; a request is matched to the plan whose prompt
    stands last in what the user said.
    """

    def __init__(self, root: Path, program: str) -> None:
        self.root, self.program = root, program
        self.home, self.temporary, self.work = (root / name for name in ("hermes", "tmp", "work"))
        for folder in (self.home, self.temporary, self.work):
            folder.mkdir(parents=True)
        self._plans: dict[str, list[Any]] = {}
        self._lock = threading.Lock()
        self.model = ScriptedModel([self._answer] * 5000, side_text=SIDE).start()
        (self.home / "config.yaml").write_text(CONFIG.format(url=self.model.openai_url))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "SSL_CERT_FILE": str(self._certificate()),
        }
        self.options: dict[str, Any] = {"command": program, "home": str(self.home)}
        self._count = 0

    def plan(self, prompt: str, *turns: Any) -> None:
        """What the model answers to this prompt; the last turn repeats."""
        with self._lock:
            self._plans[prompt] = list(turns)

    def agent(self, **options: Any) -> HermesAgent:
        context = AgentContext(name="hermes", state_dir=str(self.root / "state"))
        return HermesAgent(HermesOptions(**{**self.options, **options}), context)

    def request(self, *turns: Any, **more: Any) -> AgentRequest:
        """A call with a prompt of its own, to which the model answers with `turns`."""
        self._count += 1
        prompt = more.pop("prompt", None) or f"Prompt <{self._count}>: do it."
        self.plan(prompt, *turns)
        return AgentRequest(**{**self._call(), "prompt": prompt, **more})

    def question(self, text: str, *turns: Any, **more: Any) -> AskRequest:
        self.plan(text, *turns)
        return AskRequest(**{**self._call(), "question": text, **more})

    def heard(self, prompt: str) -> list[Any]:
        """The requests that came of a prompt, side requests left out."""
        return [
            each for each in self.model.requests if each.tool_names and self._asks(each) == prompt
        ]

    def close(self) -> None:
        self.model.close()

    def _certificate(self) -> Path:
        """One certificate instead of all: Hermes reads them a dozen times before its first word."""
        import certifi

        first, end, _ = (
            Path(certifi.where()).read_text("utf-8").partition("-----END CERTIFICATE-----")
        )
        file = self.root / "certificate.pem"
        file.write_text(f"{first}{end}\n", encoding="utf-8")
        return file

    def _call(self) -> dict[str, Any]:
        return {
            "thread": "T",
            "role": "developer",
            "step_number": self._count,
            "cwd": str(self.work),
            "env": self.env,
            "limits": RunLimits(seconds=90.0, grace_seconds=2.0),
        }

    def _asks(self, request: Any) -> str | None:
        """The prompt that a request is about: the one that the user said last. What Hermes adds
        itself, as when it asks for the rest of a cut answer, is no prompt.
        """
        for message in reversed(request.messages):
            said = text_of(message) if message["role"] == "user" else ""
            found = [(said.rfind(prompt), prompt) for prompt in self._plans if prompt in said]
            if found:
                return max(found)[1]
        return None

    def _answer(self, request: Any) -> ModelTurn:
        with self._lock:
            prompt = self._asks(request)
            turns = self._plans.get(prompt or "", [SIDE])
            turn = turns.pop(0) if len(turns) > 1 else turns[0]
        if callable(turn):
            turn = turn(request)
        if isinstance(turn, str):
            return ModelTurn(text=turn)
        return turn if isinstance(turn, ModelTurn) else read_record(ModelTurn, turn)


def text_of(message: dict[str, Any]) -> str:
    """The text of a message of the model's interface."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def processes_of(marker: str) -> list[int]:
    """Processes whose command line or environment has the marker."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                said = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            except OSError:
                continue
            if re.search(re.escape(marker).encode(), said) and int(folder.name) != os.getpid():
                found.append(int(folder.name))
    return found
