"""Options that are not as options must be."""

from dataclasses import dataclass
from typing import Any


@dataclass
class MutableOptions:
    model: str = "small"


@dataclass(frozen=True)
class LooseOptions:
    timeout: Any = 30
