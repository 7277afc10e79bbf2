"""Child programs: start, feed, read, limit and stop them, with their whole tree."""
