"""An agent for uwf that repeats its instruction."""
