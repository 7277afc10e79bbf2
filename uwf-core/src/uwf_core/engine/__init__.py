"""One step of a thread, stage by stage, and the wiring of all rooms."""
