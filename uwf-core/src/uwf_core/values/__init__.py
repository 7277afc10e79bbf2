"""Texts of the command line -> values, typed by a JSON Schema."""
