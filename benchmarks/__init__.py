"""The figures of uwf, each beside its target. Run by `nox -s bench`; see README.md here."""
