"""Runs a judge that is a Python file: `python -I -B launcher.py <entry> <cwd> <thread-id>`.

The judge's stdout is the channel of its score. Here it becomes a descriptor that no child inherits,
and descriptor 1 becomes stderr: what the judge starts cannot write to the channel, even where the
judge forgets to say where its output goes.
"""

# Every trial waits for this: runpy and pathlib take longer than many a judge.
# ruff: noqa: PTH120

import os
import sys


def main() -> None:
    """Be the judge."""
    entry, folder, thread = sys.argv[1:4]
    channel = os.dup(1)  # not inheritable (PEP 446)
    os.dup2(2, 1)
    sys.stdout = open(channel, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    sys.argv = [entry, folder, thread]
    sys.path.insert(0, os.path.dirname(entry))
    with open(entry, "rb") as file:
        code = compile(file.read(), entry, "exec")
    judge = type(sys)("__main__")
    judge.__file__ = entry
    sys.modules["__main__"] = judge
    exec(code, judge.__dict__)


if __name__ == "__main__":
    main()
