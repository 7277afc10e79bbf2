"""Stage 7: choose, open, run and supervise an agent; redact what it says."""
