"""`uwf-builtin`: the agent as a command of uwf's protocol, and `uwf-builtin chat`."""

import sys

from uwf_agent_builtin.plugin import uwf_agents
from uwf_core.api.serve import serve_agent
from uwf_core.serving import installed_tools


def main() -> int:
    """Answer a call of the protocol, or chat."""
    if sys.argv[1:2] == ["chat"]:
        from uwf_agent_builtin.chat import chat

        return chat(sys.argv[2:])
    return serve_agent(uwf_agents()[0], tools=installed_tools)


if __name__ == "__main__":
    sys.exit(main())
