"""Stores runs and trials as typed nodes; reads them in pages."""
