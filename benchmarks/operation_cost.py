"""`python -m benchmarks.operation_cost COMMIT`: how many files a new operation touches.

Generated files, tests, documentation and the changelog do not count: the table and the
implementation do, at most two files.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.size import GENERATED, ROOT

MOST = 2


def touched(commit: str, root: Path = ROOT) -> list[str]:
    """The source files of distributions that a commit changes, without generated ones."""
    listed = subprocess.run(
        ["git", "show", "--pretty=", "--name-only", commit],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return [
        name
        for name in listed
        if name.startswith("uwf-") and "/src/" in name and Path(name).stem not in _STEMS
    ]


_STEMS = {Path(each).stem for each in GENERATED}
"""The data file and the source that are generated have one stem."""


def main(words: Sequence[str]) -> int:
    """Print the files; 1 if there are too many."""
    found = touched(words[0] if words else "HEAD")
    print("\n".join([*found, f"{len(found)} files (at most {MOST})"]))
    return int(len(found) > MOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
