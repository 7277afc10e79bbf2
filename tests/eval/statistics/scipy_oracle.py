"""scipy, imported by the first test that asks it: each process imports every test file, and scipy
takes seconds.
"""

from importlib import import_module
from typing import Any


class Lazy:
    """A module of scipy."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


stats, special = Lazy("scipy.stats"), Lazy("scipy.special")
