"""Homes of the original uwf (TypeScript, on the store ocas): read, and made into bundles."""

__version__ = "0.1.0"
