"""The commands of `uwf worker`."""
