"""`uwf mcp`: tools for other agents, over the Model Context Protocol (extra `mcp`)."""
