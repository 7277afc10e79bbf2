"""Typed classes <-> JSON mappings: camelCase outside, snake_case inside, strict about types."""
