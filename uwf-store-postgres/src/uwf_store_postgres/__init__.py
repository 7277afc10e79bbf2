"""PostgreSQL as the store of uwf: threads on several machines."""

__version__ = "0.1.0"
