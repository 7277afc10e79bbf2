"""What the tests of agents share: a sink that remembers, and command agents that really run."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from uwf_core.agents.choose import Choice
from uwf_core.agents.open import OpenAgent, open_agent
from uwf_core.api.agent import AgentContext, AgentRequest, AgentSpec, PromptParts, Turn, Usage

PROGRAM = Path(__file__).parent / "programs" / "agent.py"
THREAD = "01JD0000000000000000000000"


class Told:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.sessions: list[str] = []
        self.usages: list[Usage] = []
        self.on_turn: Callable[[Turn], None] = lambda turn: None
        self.on_session: Callable[[str], None] = lambda session: None
        self.on_usage: Callable[[Usage], None] = lambda usage: None

    def turn(self, turn: Turn) -> None:
        self.turns.append(turn)
        self.on_turn(turn)

    def session(self, session: str) -> None:
        self.sessions.append(session)
        self.on_session(session)

    def usage(self, usage: Usage) -> None:
        self.usages.append(usage)
        self.on_usage(usage)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., AgentRequest]:
    """A request to work in a folder of its own, with some fields changed."""

    def make(**changes: object) -> AgentRequest:
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        request = AgentRequest(
            thread=THREAD,
            role="writer",
            step_number=2,
            cwd=str(folder),
            prompt="the whole prompt",
            parts=PromptParts(task="a task", instruction="do it"),
            env={"PATH": os.environ["PATH"], "HELLO": "from the environment"},
        )
        return request.with_(**changes)

    return make


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., OpenAgent]:
    """`agent.py SCENARIO` as a command agent with the capabilities that are named."""

    def make(scenario: str, *capabilities: str) -> OpenAgent:
        choice = Choice(
            kind="command",
            word="ours",
            source="test",
            name="agent.py",
            command=(sys.executable, "-I", "-S", str(PROGRAM), scenario),
            capabilities=frozenset(capabilities),
        )
        context = AgentContext(name="ours", state_dir=str(tmp_path / "state"))
        return open_agent(choice, no_plugins, context)

    return make


def no_plugins(name: str) -> AgentSpec:
    raise AssertionError(f"nobody asked for the plugin {name}")
