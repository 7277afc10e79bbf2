"""The pages of uwf in a browser: `uwf web`."""

__version__ = "0.1.0"
