"""Stage 7: choose, open, run and supervise an agent; redact its output."""
