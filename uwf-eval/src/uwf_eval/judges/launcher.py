"""Runs a judge that is a Python file: `python -I -B launcher.py <entry> <cwd> <thread-id>`.

The judge's stdout is the channel of its score. Here it becomes a descriptor that no child inherits,
and descriptor 1 becomes stderr: what the judge starts cannot write to the channel, even where the
judge forgets to say where its output goes.
"""

import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Be the judge."""
    entry, folder, thread = sys.argv[1:4]
    channel = os.dup(1)  # not inheritable (PEP 446)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(channel, "w", encoding="utf-8", errors="backslashreplace")
    sys.argv = [entry, folder, thread]
    sys.path.insert(0, str(Path(entry).parent))
    runpy.run_path(entry, run_name="__main__")


if __name__ == "__main__":
    main()
