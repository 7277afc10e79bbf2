"""Workflow files: 1 load YAML with positions, 2 check, 3 publish as nodes; discovery, registry."""
