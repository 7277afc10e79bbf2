"""The builtin agent with a script in the place of its model: no key, no server."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from uwf_agent_builtin.agent import BuiltinAgent
from uwf_agent_builtin.demo.model import answer, reply
from uwf_agent_builtin.options import BuiltinOptions
from uwf_core.api import AgentContext, AgentRequest, AskRequest, Model
from uwf_llm.chat import ChatReply, ChatRequest, Message

SCRIPT = Model(alias="demo", name="scripted-model", provider="demo", base_url="")


class DemoAgent(BuiltinAgent):
    """Asks the script instead of the configured model; all else is the builtin agent's.

    Args:
        options: as the builtin agent has them; commands are allowed, since the demo runs tests.
    """

    def __init__(self, options: BuiltinOptions | None, context: AgentContext) -> None:
        super().__init__(replace(options or BuiltinOptions(), allow_shell="workspace"), context)

    def client_of(
        self, request: AgentRequest | AskRequest, options: BuiltinOptions
    ) -> "ScriptedClient":
        """The script of the request's role; to a question, what was said in the session."""
        if isinstance(request, AskRequest):
            return ScriptedClient(answer)
        return ScriptedClient(partial(reply, request.role))


class ScriptedClient:
    """Answers as the script says; nothing leaves the process."""

    model = SCRIPT

    def __init__(self, play: Callable[[Sequence[Message]], ChatReply]) -> None:
        self._play = play

    def chat(self, request: ChatRequest, **_limits: Any) -> ChatReply:
        """The script's next reply to these messages."""
        return self._play(request.messages)
