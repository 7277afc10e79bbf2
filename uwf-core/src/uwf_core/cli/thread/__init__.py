"""`uwf thread`: one module for commands that belong together."""
