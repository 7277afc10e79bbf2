"""What says how well a trial went."""
