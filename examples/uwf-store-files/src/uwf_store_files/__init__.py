"""A store of uwf in loose files."""
