"""`UWF_TRACE_PLUGINS=1`: every hook call with arguments, result and time, on stderr."""

import sys
from collections.abc import Callable, Mapping

VARIABLE = "UWF_TRACE_PLUGINS"


def stderr_trace(
    environment: Mapping[str, str], redact: Callable[[str], str]
) -> Callable[[str], None] | None:
    """The trace that the environment requests, or None.

    `redact` removes secrets from a line before it is printed.
    """
    if environment.get(VARIABLE, "") in ("", "0"):
        return None

    def write(line: str) -> None:
        print(f"uwf plugins: {redact(line)}", file=sys.stderr, flush=True)

    return write
