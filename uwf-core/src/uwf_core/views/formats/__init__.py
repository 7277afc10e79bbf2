"""A thread in the formats of other tools: ATIF, OpenTelemetry."""
