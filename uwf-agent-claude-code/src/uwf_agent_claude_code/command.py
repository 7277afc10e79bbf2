"""`uwf-claude-code`: the agent as a command of uwf's protocol."""

import sys

from uwf_agent_claude_code.plugin import uwf_agents
from uwf_core.api.serve import serve_agent


def main() -> int:
    """Answer a call of the protocol."""
    return serve_agent(uwf_agents()[0])


if __name__ == "__main__":
    sys.exit(main())
