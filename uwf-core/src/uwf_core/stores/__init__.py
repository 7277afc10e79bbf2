"""The backends of the house, `sqlite` (default) and `memory`, and the way to open any."""
