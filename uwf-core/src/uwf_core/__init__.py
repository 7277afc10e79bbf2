"""United Workforce: a stateless workflow engine for LLM agents."""

__version__ = "0.1.0"
