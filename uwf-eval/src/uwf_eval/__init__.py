"""uwf-eval: know whether a workflow is any good, and whether a change made it better."""

__version__ = "0.1.0"
