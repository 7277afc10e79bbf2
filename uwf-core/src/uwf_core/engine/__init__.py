"""One step, and everything that is done with threads; wiring of all rooms."""
