"""Two threads compared: aligned steps, the first divergence, and their renderers."""
