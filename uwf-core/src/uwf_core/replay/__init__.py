"""Replay: a recorded thread through the stages again, with the recorded replies as agents."""
