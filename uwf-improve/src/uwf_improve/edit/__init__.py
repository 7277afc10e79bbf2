"""Bounded edits of a workflow: what may change, the patch, and what is refused."""
