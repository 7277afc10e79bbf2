"""Two versions of a workflow compared by meaning. Pure functions of two definitions."""
