"""Runs `uwf` as its entry point does and writes, at the end, which modules the process holds.

`python launcher.py OUT WORDS…`; what Python itself had loaded before is left out. Imports nothing
but built-in modules, so that it adds nothing to what it measures.
"""

import posix
import sys

before = frozenset(sys.modules)
out = sys.argv[1]


def write_modules() -> None:
    """Write the names of the modules, one a line."""
    with open(out, "w") as file:
        file.write("\n".join(sorted(set(sys.modules) - before - {"__mp_main__"})))


def exit_now(code: int) -> None:
    """What `os._exit` does, after the names are written."""
    write_modules()
    leave(code)


sys.argv[:] = ["uwf", *sys.argv[2:]]
del sys.path[0]  # this folder
leave = posix._exit
sys.modules["os"]._exit = exit_now

from uwf_core.__main__ import main  # noqa: E402

try:
    code = main()
except SystemExit as error:
    code = error.code
finally:
    write_modules()
sys.exit(code)
