"""Care for the store: verify, repair, bundles out and in, garbage collection."""
