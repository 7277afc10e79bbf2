"""Any agent that speaks the Agent Client Protocol as a role of uwf workflows."""

__version__ = "0.1.0"
