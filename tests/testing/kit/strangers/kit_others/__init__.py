"""One wrong extractor and one wrong judge for each clause of theirs: the kit's own test."""
