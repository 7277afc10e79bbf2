"""The Hermes agent as a role of uwf workflows, driven over the Agent Client Protocol."""

__version__ = "0.1.0"
