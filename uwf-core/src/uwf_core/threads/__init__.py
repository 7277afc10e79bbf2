"""What people do to threads: start, resume, poke, fork, cancel, stop, ask."""
