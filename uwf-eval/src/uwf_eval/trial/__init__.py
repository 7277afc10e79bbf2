"""One trial: its folder, its thread, its judges."""
