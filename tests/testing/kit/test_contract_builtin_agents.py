"""The agents of the house under the contract that every agent is under."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from uwf_core.api.agent import AskRequest, PromptParts
from uwf_core.errors import FailureKind
from uwf_testing.agent_contract import AgentContract, Command, KitLimits
from uwf_testing.peer import ABILITIES, Peer

PROGRAM = Path(__file__).parent / "programs" / "command_agent.py"
KINDS = tuple(kind.word for kind in FailureKind if kind is not FailureKind.INTERNAL)


class MockPeer(Peer):
    """The script that the mock plays."""

    abilities = (
        *("say", "usage", "no_usage", "structured", "deny", "question", "fail", "garbage"),
        *("silence", "hang", "lost", "knows"),
    )
    otherwise = "it runs no program"
    kinds = KINDS

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lacks = {
            **dict.fromkeys(("write", "offered"), "it has no tools"),
            "heard": "it does not read its prompt",
            "replaced": "nobody else keeps its sessions",
        }

    def prepare(self, act, call):
        if act.do == "lost":
            shutil.rmtree(Path(self.state_dir, "sessions"))
        file = self.folder / f"script-{len(list(self.folder.iterdir()))}.json"
        if act.do == "garbage":
            file.write_text("]]} no script", encoding="utf-8")
        else:
            script = {"repeat": True, "steps": [{"role": call.role, **self.step(act, call)}]}
            file.write_text(json.dumps(script), encoding="utf-8")
        return replace(call, env={**call.env, "UWF_MOCK_SCRIPT": str(file)})

    def step(self, act, call):
        asked = {"message": act.text, "form": {"type": "object"}}
        if isinstance(call, AskRequest):
            return {"output": "not asked for", "answer": act.text}
        match act.do:
            case "usage":
                return {"output": act.text, "usage": act.document()["usage"]}
            case "no_usage":
                return {"output": act.text, "usage": {}}
            case "structured":
                return {"structured": act.structured}
            case "deny":
                return {"output": act.text, "denials": ["shell"]}
            case "question":
                return {
                    "output": "yes",
                    "question": asked,
                }
            case "fail":
                return {"fail": {"kind": act.kind}}
            case "hang":
                return {"hang": True}
        return {"output": act.text}

    def knows(self, session):
        lines = Path(self.state_dir, "sessions", f"{session}.jsonl").read_text().splitlines()
        return [json.loads(line)["instruction"] for line in lines]


class TestMock(AgentContract):
    @pytest.fixture
    def agent(self):
        return "mock"

    @pytest.fixture
    def peer(self, tmp_path):
        folder = tmp_path / "scripts"
        folder.mkdir()
        return MockPeer(folder)


class HumanPeer(Peer):
    """A person, who answers or has not answered yet."""

    abilities = ("structured", "question")
    otherwise = "a person fills in a form"

    def prepare(self, act, call):
        if act.do == "structured":
            return call.with_(answer=act.structured)
        return call.with_(parts=PromptParts(instruction=act.text))


class TestHuman(AgentContract):
    @pytest.fixture
    def agent(self):
        return "human"

    @pytest.fixture
    def peer(self):
        return HumanPeer()


class ProgramPeer(Peer):
    """The program itself, found on the PATH, which plays the act in a file."""

    abilities = tuple(ABILITIES)
    kinds = KINDS

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bin", "acts", "memory"):
            (folder / name).mkdir(parents=True)
        program = folder / "bin" / "kit-agent"
        program.write_text(f"#!{sys.executable} -IS\n{PROGRAM.read_text()}")
        program.chmod(0o755)

    def prepare(self, act, call):
        file = self.folder / "acts" / str(len(list((self.folder / "acts").iterdir())))
        file.write_text(json.dumps(act.document()))
        there = self.folder / ("acts" if act.do == "missing" else "bin")
        env = {
            **call.env,
            "PATH": f"{there}:{call.env['PATH']}",
            "KIT_ACT": str(file),
            "KIT_PEER": str(self.folder / "memory"),
        }
        return replace(call, env=env)

    def heard(self):
        lines = (self.folder / "memory" / "heard.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def knows(self, session):
        return json.loads((self.folder / "memory" / session).read_text())

    def offered(self):
        return json.loads((self.folder / "memory" / "offered.json").read_text())


class TestCommand(AgentContract):
    limits = KitLimits(grace_seconds=0.5)

    @pytest.fixture
    def agent(self):
        capabilities = frozenset(("continue", "fork", "ask", "stream", "tools"))
        return Command(("kit-agent",), capabilities)

    @pytest.fixture
    def peer(self, tmp_path):
        return ProgramPeer(tmp_path / "peer")
