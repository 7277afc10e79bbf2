"""Edits at random places after which the program behaves the same: no test can notice them."""

from collections.abc import Mapping
from types import MappingProxyType

EQUIVALENT: Mapping[tuple[str, str], str] = MappingProxyType({})
"""Why, by the file below the checkout and the change as a run prints it."""
