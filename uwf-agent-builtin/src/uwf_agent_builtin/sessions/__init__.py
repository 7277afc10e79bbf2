"""Sessions: what was said, kept as files that outlive the process."""
