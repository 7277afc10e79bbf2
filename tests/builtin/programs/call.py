"""One call of the agent in a process of its own: prints the reply as JSON."""

import json
import os
import sys

from uwf_agent_builtin.agent import BuiltinAgent
from uwf_agent_builtin.options import BuiltinOptions
from uwf_core.api import AgentContext, AgentRequest, Model
from uwf_core.fields.records import write_record

SCHEMA = {"properties": {"$status": {"const": "done"}}, "required": ["$status"]}


class Sink:
    def turn(self, turn):
        return

    session = usage = turn


given = json.loads(sys.argv[1])
options = BuiltinOptions(allow_shell=given.get("allow_shell", False))
agent = BuiltinAgent(options, AgentContext(name="builtin", state_dir=given["state"]))
request = AgentRequest(
    thread="T",
    role="r",
    step_number=1,
    cwd=given["cwd"],
    prompt=given.get("prompt", ""),
    schema=SCHEMA,
    session=given.get("session"),
    env=dict(os.environ),
    model=Model(alias="m", name="m", provider="p", base_url=given["url"], api_key="key-of-tests"),
)
if given.get("mode") == "fork":
    print(json.dumps({"session": agent.fork(given["session"], request)}))
else:
    print(json.dumps(write_record(agent.run(request, Sink()))))
agent.close()
