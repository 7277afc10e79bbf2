"""A whole run: which trials are left, who runs them, what was used."""
