"""A task: what is tried, on what, and how it is judged."""
