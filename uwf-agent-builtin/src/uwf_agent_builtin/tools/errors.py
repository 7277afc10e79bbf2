"""The error that is an answer. Imports nothing, since the searching child needs it as well."""


class ToolError(Exception):
    """What a tool could not do. Its text is the answer to the model."""
