"""`python -m uwf_agent_builtin.demo`: the demo's agent, as a command of uwf's protocol."""

import sys

from uwf_core.api import AgentSpec
from uwf_core.api.serve import serve_agent

SPEC = AgentSpec(
    name="demo",
    summary="the builtin agent on the model of the demo, which is a script",
    factory="uwf_agent_builtin.demo.agent:DemoAgent",
    options="uwf_agent_builtin.options:BuiltinOptions",
)

if __name__ == "__main__":
    sys.exit(serve_agent(SPEC))
