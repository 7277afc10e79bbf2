"""The report as one page that needs nothing else: no script, no network, every text escaped."""
