"""The tools that the model may call, each a record with the JSON Schema of its arguments."""
