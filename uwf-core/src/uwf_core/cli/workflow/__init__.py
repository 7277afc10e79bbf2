"""`uwf workflow`: one module for commands that belong together."""
