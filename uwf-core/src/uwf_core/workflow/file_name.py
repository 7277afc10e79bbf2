"""A workflow is called like its file."""

from pathlib import Path


def expected_name(file: str) -> str:
    """What the workflow in `file` must be called: the stem, or the folder for `index.yaml`."""
    path = Path(file)
    return path.absolute().parent.name if path.stem == "index" else path.stem
