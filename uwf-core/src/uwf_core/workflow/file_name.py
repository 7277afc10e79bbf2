"""A workflow has the name of its file."""

from pathlib import Path


def expected_name(file: str) -> str:
    """The required name of the workflow in `file`: the stem, or the folder for `index.yaml`."""
    path = Path(file)
    return path.absolute().parent.name if path.stem == "index" else path.stem
