"""`uwf step`: one module for commands that belong together."""
