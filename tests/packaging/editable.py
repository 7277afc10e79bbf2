"""Build editable wheels of distributions in one process: `editable.py OUT FOLDER...`.

Needs hatchling and editables, and nothing of uwf.
"""

import sys

from hatchling.builders.wheel import WheelBuilder


def main(out: str, *folders: str) -> int:
    for folder in folders:
        list(WheelBuilder(folder).build(directory=out, versions=["editable"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
