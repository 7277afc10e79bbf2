"""What recorded threads of a workflow show, as plain values; read through the public read model."""
