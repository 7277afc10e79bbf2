"""Queues that wake workers, behind one protocol."""
