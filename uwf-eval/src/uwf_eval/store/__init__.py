"""Runs and trials as typed nodes: written as they end, read in pages."""
