"""Stage 9: raw text -> typed output, or what to correct. Pure; no model call is spent on it."""
