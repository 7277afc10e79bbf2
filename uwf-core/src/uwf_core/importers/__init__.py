"""Importers of what other programs recorded: they make bundles, which `cas import` stores."""
