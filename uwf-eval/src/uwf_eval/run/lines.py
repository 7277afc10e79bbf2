"""What a run and its workers send each other, as bytes: see wire.py for what it says."""

import json
from typing import Any


def line(**message: Any) -> bytes:
    """A message as it is sent."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
