"""How the programs of this workflow end: with an exit code that decides, and fields as JSON.

Python ends with 1 on every error, also on a missing library, and 1 must not mean "has differences"
then. So every error is exit code 2, which no role maps to a status.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

ERROR = 2
DRAFT, ORIGINAL = "draft.md", "original.docx"
"""Files of the folder of a thread."""


def run(play: Callable[[Namespace], tuple[int, Mapping[str, Any]]], options: Sequence[str]) -> None:
    """Parse the options, play the role, print its fields as the last line, and exit."""
    parser = ArgumentParser()
    for option in options:
        parser.add_argument(f"--{option}", default="")
    arguments = parser.parse_args()
    try:
        code, fields = play(arguments)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(ERROR)
    print(json.dumps(fields, ensure_ascii=False))
    sys.exit(code)
