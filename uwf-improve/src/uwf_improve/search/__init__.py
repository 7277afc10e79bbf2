"""Search for an edit on open tasks: it claims what it likes, and `decide` tests it."""
