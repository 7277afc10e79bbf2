"""uwf-eval: evaluate workflows on tasks, and test whether a change made one better."""

__version__ = "0.1.0"
