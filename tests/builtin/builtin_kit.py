"""A desk to try the builtin agent at: a workspace, a scripted model, a sink that remembers."""

import os
from pathlib import Path
from typing import Any

from uwf_agent_builtin.agent import BuiltinAgent
from uwf_agent_builtin.options import BuiltinOptions
from uwf_agent_builtin.protection import Obeyed, Protection
from uwf_agent_builtin.redaction import cleaned
from uwf_agent_builtin.tools.record import CallContext
from uwf_agent_builtin.tools.registry import Answered, Registry
from uwf_agent_builtin.workspace import Workspace
from uwf_core.api import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AskRequest,
    Call,
    Model,
    RunLimits,
    ToolCall,
)
from uwf_testing.harness import RecordingSink
from uwf_testing.model_server import ScriptedModel

DONE = "---\n$status: done\n---\nAll of it."
SCHEMA = {
    "oneOf": [
        {
            "properties": {"$status": {"const": "done"}, "note": {"type": "string"}},
            "required": ["$status"],
        },
        {
            "properties": {"$status": {"const": "failed"}, "why": {"type": "string"}},
            "required": ["$status", "why"],
        },
    ]
}


def use(name: str, **arguments: Any) -> dict[str, Any]:
    """A call of a tool, as the script has it."""
    return {"name": name, "arguments": arguments}


def turn(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A turn of the model that calls tools."""
    return {"toolCalls": list(calls), **more}


class Sink(RecordingSink):
    """Remembers what was told, tool by tool."""

    def calls(self) -> list[ToolCall]:
        return [call for turn in self.last_turns() for call in turn.tool_calls]

    def notes(self) -> list[str]:
        return [turn.text for turn in self.last_turns() if turn.role == "note"]


class Desk:
    """An agent, its workspace (`work`) and a folder beside it that it must not reach."""

    def __init__(self, root: Path) -> None:
        self.work = root / "work"
        self.outside = root / "outside"
        self.state = root / "state"
        for folder in (self.work, self.outside):
            folder.mkdir()
        self.sink = Sink()
        self.env = {"PATH": os.environ["PATH"]}
        self._opened: list[Any] = []

    def model(self, *turns: Any, **options: Any) -> ScriptedModel:
        """A scripted model; closed with the desk."""
        server = ScriptedModel(turns, **options).start()
        self._opened.append(server)
        return server

    def agent(self, **options: Any) -> BuiltinAgent:
        context = AgentContext(name="builtin", state_dir=str(self.state))
        agent = BuiltinAgent(BuiltinOptions(**options), context)
        self._opened.append(agent)
        return agent

    def request(self, server: ScriptedModel | None, **more: Any) -> AgentRequest:
        defaults: dict[str, Any] = {
            "thread": "T",
            "role": "developer",
            "step_number": 1,
            "cwd": str(self.work),
            "prompt": "Do it.",
            "schema": SCHEMA,
            "env": self.env,
            "limits": RunLimits(seconds=30.0, grace_seconds=1.0),
            "model": None if server is None else model_at(server.openai_url),
        }
        return AgentRequest(**{**defaults, **more})

    def question(self, server: ScriptedModel, **more: Any) -> AskRequest:
        return AskRequest(
            thread="T",
            role="developer",
            step_number=1,
            cwd=str(self.work),
            env=self.env,
            model=model_at(server.openai_url),
            **{"question": "Why?", **more},
        )

    def run(self, *turns: Any, options: dict[str, Any] | None = None, **request: Any) -> AgentReply:
        """One call of the agent with a model that says these turns."""
        server = self.model(*turns)
        return self.agent(**(options or {})).run(self.request(server, **request), self.sink)

    def context(self, **options: Any) -> CallContext:
        """What a tool works with, without an agent."""
        made = BuiltinOptions(**options)
        workspace = Workspace(str(self.work), Protection(made.deny, made.allow_write, (), Obeyed()))
        self._opened.append(workspace)
        call = Call(
            thread="T",
            role="developer",
            step_number=1,
            cwd=str(self.work),
            env=cleaned(self.env),
            limits=RunLimits(seconds=30.0, grace_seconds=1.0),
        )
        return CallContext(workspace=workspace, call=call, options=made, seconds_left=lambda: 30.0)

    def tool(self, name: str, context: CallContext | None = None, /, **arguments: Any) -> Answered:
        """One call of a tool, without an agent."""
        if context is not None:
            return Registry(context.options).call(name, arguments, context)
        context = self.context()
        self._opened.remove(context.workspace)
        try:
            return Registry(context.options).call(name, arguments, context)
        finally:
            context.workspace.close()

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()


def model_at(url: str, key: str | None = "sk-a-key-of-the-tests") -> Model:
    return Model(alias="m", name="scripted", provider="p", base_url=url, api_key=key)
