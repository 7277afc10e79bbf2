"""What uwf can do, each declared once: commands, the client and the tools of MCP come from it."""
