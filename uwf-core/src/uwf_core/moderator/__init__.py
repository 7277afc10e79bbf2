"""Stage 5: choose the next role. Pure functions of a workflow and the last output; no model."""
