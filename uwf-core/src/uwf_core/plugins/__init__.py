"""Plugins: which are installed, whether they fit, and loading the one that is needed."""
