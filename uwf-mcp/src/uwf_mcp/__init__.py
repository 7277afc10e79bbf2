"""`uwf mcp`: the operations of uwf as tools of other agents, over the Model Context Protocol."""

__version__ = "0.1.0"
