"""Workers: several machines run the threads of one store of uwf."""

__version__ = "0.1.0"
