"""A person as an agent, through the same contract as any other."""

from collections.abc import Callable
from typing import Any

import pytest

from uwf_core.agents.choose import Choice
from uwf_core.agents.human import uwf_agents
from uwf_core.agents.open import OpenAgent, open_agent
from uwf_core.agents.supervise import fork_call, run_call
from uwf_core.api.agent import AgentContext, AgentRequest, PromptParts
from uwf_core.api.extract import NO_USAGE
from uwf_core.errors import BadRequest, NeedsAnswer

RequestFor = Callable[..., AgentRequest]
SCHEMA = {"type": "object", "properties": {"$status": {"const": "approved"}}}


@pytest.fixture
def human() -> OpenAgent:
    choice = Choice(kind="plugin", word="human", source="test", name="human", plugin="human")
    context = AgentContext(name="human", state_dir="/nowhere")
    return open_agent(choice, lambda name: uwf_agents()[0], context)


def test_it_asks_with_the_moderators_words_and_the_roles_schema(
    human: OpenAgent, request_for: RequestFor, told: Any
) -> None:
    with pytest.raises(NeedsAnswer, match="do it") as question:
        run_call(human, request_for(schema=SCHEMA), told)
    assert question.value.form == SCHEMA


def test_without_parts_it_asks_with_the_whole_prompt(
    human: OpenAgent, request_for: RequestFor, told: Any
) -> None:
    with pytest.raises(NeedsAnswer, match="the whole prompt"):
        run_call(human, request_for(parts=PromptParts()), told)


def test_the_answer_is_the_output_and_cost_nothing(
    human: OpenAgent, request_for: RequestFor, told: Any
) -> None:
    reply = run_call(human, request_for(answer={"$status": "approved"}), told)
    assert reply.structured == {"$status": "approved"}
    assert reply.usage == NO_USAGE
    assert (reply.continuation, reply.session) == ("new", None)


def test_a_person_cannot_be_forked(human: OpenAgent, request_for: RequestFor) -> None:
    with pytest.raises(BadRequest):
        fork_call(human, "s", request_for())
