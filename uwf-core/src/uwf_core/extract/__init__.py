"""Stage 9: raw text -> typed output, or the errors to correct. Pure, without a model call."""
