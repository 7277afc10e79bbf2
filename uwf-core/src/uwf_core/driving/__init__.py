"""The methods of the client, by what they do: read, define workflows, act on threads."""
