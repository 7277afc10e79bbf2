"""The adapter: an agent of the protocol plays a role."""
