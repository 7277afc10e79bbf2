"""Threads in the formats of other tools: ATIF, OpenTelemetry."""

__version__ = "0.1.0"
