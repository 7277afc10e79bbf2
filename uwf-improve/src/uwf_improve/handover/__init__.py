"""Hand an edit over: the report for people, and the edit written to the file."""
