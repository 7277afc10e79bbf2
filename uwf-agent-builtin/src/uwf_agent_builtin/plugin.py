"""What this distribution announces to uwf. Importing it imports neither the agent nor httpx."""

from collections.abc import Sequence

from uwf_core.api import AgentSpec, ExtractorSpec, hookimpl


@hookimpl
def uwf_agents() -> Sequence[AgentSpec]:
    """`builtin`: the agent of this distribution."""
    return [
        AgentSpec(
            name="builtin",
            summary="a ReAct agent with confined tools, on a model of any service",
            factory="uwf_agent_builtin.agent:BuiltinAgent",
            options="uwf_agent_builtin.options:BuiltinOptions",
            capabilities=frozenset(
                (
                    *("continue", "fork", "ask", "stream", "structured", "usage"),
                    *("tools", "model", "rules"),
                )
            ),
            checks="uwf_agent_builtin.checks:checks",
        )
    ]


@hookimpl
def uwf_extractors() -> Sequence[ExtractorSpec]:
    """`llm`: off until `extractors` of the configuration names it."""
    return [
        ExtractorSpec(
            name="llm",
            summary="one call of the model `modelOverrides.extract` in JSON mode",
            factory="uwf_agent_builtin.extractor:LlmExtractor",
        )
    ]
