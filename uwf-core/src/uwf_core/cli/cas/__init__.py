"""`uwf cas`: the store as it is."""
