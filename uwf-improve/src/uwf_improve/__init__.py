"""uwf-improve: improve a workflow, and confirm it on tasks that the search never saw."""

__version__ = "0.1.0"
