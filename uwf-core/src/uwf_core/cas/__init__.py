"""Nodes: bytes, references, schemas, and the Store over a backend. Knows nothing of workflows."""
