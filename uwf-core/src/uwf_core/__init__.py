"""United Workforce: a stateless workflow engine for LLM agents."""

__version__ = "0.1.0"
API_VERSION = "1.0"
"""The version of the contract of plugins. A plugin names the one that it was written for."""
