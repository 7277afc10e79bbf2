"""An agent of uwf that says what it is told."""
