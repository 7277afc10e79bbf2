"""The names that a workflow's file may have. A workflow has the name of its file."""

import os  # pathlib is slow to import

SUFFIXES = (".yaml", ".yml")
FOLDERS = (".workflow", ".workflows")
"""The folders of a project's workflows; if one folder has both, the former wins."""
INDEX_FILES = tuple("index" + suffix for suffix in SUFFIXES)
"""The file of a workflow that is named by its folder."""


def expected_name(file: str) -> str:
    """The required name of the workflow in `file`: the stem, or the folder for `index.yaml`."""
    folder, name = os.path.split(os.path.abspath(file))  # noqa: PTH100
    stem = os.path.splitext(name)[0]  # noqa: PTH122
    return os.path.basename(folder) if stem == "index" else stem  # noqa: PTH119
