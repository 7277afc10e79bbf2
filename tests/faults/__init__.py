"""What may go wrong around uwf, made to go wrong: `nox -s faults`. See README.md."""
