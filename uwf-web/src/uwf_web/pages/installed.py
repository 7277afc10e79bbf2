"""What is installed: agents and plugins with their status."""

from uwf_web.page import Document, Page, Visit


def read_agents(visit: Visit) -> Document:
    """The agents that can be named, and all plugins; nothing is loaded."""
    return {"agents": visit.client.agents(), "plugins": visit.client.plugins()}


AGENTS: Page = Page("agents.html", read_agents, ("uwf agent list", "uwf plugin list"))
