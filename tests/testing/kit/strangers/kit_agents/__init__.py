"""An agent that is right, and one wrong agent for each clause: the kit's own test."""
