"""Stage 6: a route and what happened before -> the text that an agent gets. Pure."""
