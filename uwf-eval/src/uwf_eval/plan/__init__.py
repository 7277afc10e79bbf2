"""Which trials a run is made of: pure."""
