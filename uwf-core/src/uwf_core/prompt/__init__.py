"""Stage 6: a route and the history -> the prompt of an agent. Pure."""
