"""One module per phase, with its checks in the order in which they run."""
