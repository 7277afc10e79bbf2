"""What is installed: agents and plugins with their status, and whether an agent is ready."""

from uwf_core.errors import UsageError
from uwf_web.page import Document, Page, Visit


def read_agents(visit: Visit) -> Document:
    """The agents that can be named, and all plugins; nothing is loaded."""
    return {"agents": visit.client.agents(), "plugins": visit.client.plugins()}


def read_agent(visit: Visit) -> Document:
    """Whether an agent is ready: it is loaded in a child process.

    Raises:
        UsageError: it is none of this installation: a command line needs a terminal.
    """
    named = visit.path["agent"]
    if named not in {row["name"] for row in visit.client.agents()}:
        raise UsageError(
            f"{named!r} is not an agent of this installation", hint="choose one of the page Agents"
        )
    return visit.client.check_agent(named)


AGENTS: Page = Page("agents.html", read_agents, ("uwf agent list", "uwf plugin list"))
AGENT: Page = Page("agent.html", read_agent, ("uwf agent check {agent}",))
