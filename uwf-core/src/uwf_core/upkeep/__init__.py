"""Maintain the store: verify, repair, export and import bundles, delete unreachable nodes."""
