"""The builtin agent of uwf: a ReAct loop over a model of any service, with confined tools."""

__version__ = "0.1.0"
