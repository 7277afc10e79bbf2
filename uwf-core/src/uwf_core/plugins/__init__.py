"""Plugins: find installed ones, check their compatibility, load the one that is needed."""
