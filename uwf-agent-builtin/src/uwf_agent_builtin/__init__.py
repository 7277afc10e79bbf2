"""The builtin agent of uwf: a ReAct loop over an OpenAI-compatible model, with confined tools."""

__version__ = "0.1.0"
