"""`uwf-builtin`: the agent as a command of uwf's protocol, and `uwf-builtin chat`."""

import sys

from uwf_agent_builtin.plugin import uwf_agents
from uwf_core.api.serve import serve_agent
from uwf_core.serving import installed_tools, with_protocol

_HELP = """\
uwf-builtin: the builtin agent of uwf

  uwf-builtin chat [--model NAME] …                talk with a model that has the tools, by hand
  uwf-builtin --thread … --role … --prompt …       answer one call of uwf's command protocol
"""


def main() -> int:
    """Answer a call of the protocol, or chat."""
    words = sys.argv[1:]
    if not words or words in (["-h"], ["--help"]):
        print(_HELP, end="")
        return 0 if words else 2
    if words[0] == "chat":
        from uwf_agent_builtin.chat import chat

        return chat(words[1:])
    return serve_agent(uwf_agents()[0], tools=installed_tools, model=with_protocol)


if __name__ == "__main__":
    sys.exit(main())
