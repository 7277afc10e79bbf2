"""Documents as text for people, as JSON and as YAML."""
