"""Stage 5: who is next. Pure functions over a workflow and the last output; no model."""
