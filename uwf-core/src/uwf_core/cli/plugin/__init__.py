"""`uwf plugin`."""
