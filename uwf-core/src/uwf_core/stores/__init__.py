"""The built-in backends, `sqlite` (default) and `memory`, and opening any backend."""
