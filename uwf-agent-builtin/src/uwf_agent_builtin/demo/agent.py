"""The builtin agent with a model of its own: a scripted server on loopback, there for one call."""

from dataclasses import replace
from functools import partial

from uwf_agent_builtin.agent import BuiltinAgent
from uwf_agent_builtin.demo.model import answer, reply
from uwf_agent_builtin.options import BuiltinOptions
from uwf_core.api import AgentContext, AgentReply, AgentRequest, AskRequest, Model, TurnSink
from uwf_core.testing.model_server import ScriptedModel
from uwf_core.testing.model_server_script import Answerer, ModelScript

MODEL = "scripted-model"


class DemoAgent(BuiltinAgent):
    """Asks the script instead of the configured model; all else is the builtin agent's.

    Args:
        options: as the builtin agent has them; commands are allowed, since the demo runs tests.
    """

    def __init__(self, options: BuiltinOptions | None, context: AgentContext) -> None:
        super().__init__(replace(options or BuiltinOptions(), allow_shell=True), context)

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """Play a role of fix-bug.

        Raises:
            AgentFailure: as the builtin agent.
        """
        with _serving(partial(reply, request.role)) as server:
            return super().run(replace(request, model=_model_at(server)), sink)

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Say what was said in the session.

        Raises:
            AgentFailure: as the builtin agent.
        """
        with _serving(answer) as server:
            return super().ask(replace(request, model=_model_at(server)), sink)


def _serving(answerer: Answerer) -> ScriptedModel:
    return ScriptedModel(script=ModelScript(turns=(answerer,), repeat=True))


def _model_at(server: ScriptedModel) -> Model:
    return Model(alias=MODEL, name=MODEL, provider="demo", base_url=server.openai_url)
