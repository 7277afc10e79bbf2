"""One wrong store for each clause of the store contract: the kit's own test."""
