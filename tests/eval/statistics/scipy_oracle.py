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
        if name.startswith("_"):  # pytest looks whether it is a fixture or a mock
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


stats, special = Lazy("scipy.stats"), Lazy("scipy.special")
