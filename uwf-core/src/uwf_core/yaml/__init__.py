"""YAML 1.2 with places and limits: nodes, values by a schema, errors, and JSON values as YAML."""
