"""Statistics for trials of tasks: pure functions of numbers, the standard library alone."""
