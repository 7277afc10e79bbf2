"""An agent for uwf that repeats its prompt."""
