"""A thread as documents and text: what the commands print. Reads, and never takes a lock."""
