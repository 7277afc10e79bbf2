"""Stages 4 and 11: the nodes of a thread, its chain, its head, its life cycle and its status."""
