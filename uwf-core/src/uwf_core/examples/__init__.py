"""Example workflows, as files to copy: `uwf workflow new NAME --from EXAMPLE`."""
