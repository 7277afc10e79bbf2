"""`uwf cas`: nodes and types in the store."""
