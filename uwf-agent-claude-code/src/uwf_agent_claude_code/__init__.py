"""Claude Code as a role of uwf workflows, truthfully driven."""

__version__ = "0.1.0"
