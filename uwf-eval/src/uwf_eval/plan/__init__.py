"""Plans the trials of a run. Pure."""
