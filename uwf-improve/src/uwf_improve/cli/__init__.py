"""The commands of `uwf improve`."""
