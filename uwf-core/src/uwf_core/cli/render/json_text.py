"""Documents as JSON."""

import json
from typing import Any


def as_json(value: Any, *, ascii_only: bool = False, compact: bool = False) -> str:
    """`value` as JSON: indented for reading, or on one line."""
    return json.dumps(value, ensure_ascii=ascii_only, indent=None if compact else 2)
