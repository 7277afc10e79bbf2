"""The parts of a step's document or node, also of one that does not use them."""

from collections.abc import Mapping
from typing import Any


def session_of(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """Its session: `id`, `kept`, `continuation`, `mark`."""
    return step["session"] or {"id": None, "kept": True, "continuation": "new", "mark": None}


def call_of(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """What it called: `child`, `children`, `branches`, `called`, `usage`, `usageByRole`."""
    keys = ("child", "children", "branches", "called", "usage", "usageByRole")
    return step["call"] or dict.fromkeys(keys)


def workspace_of(step: Mapping[str, Any]) -> Any:
    """Its recorded files."""
    return step["files"] and step["files"]["workspace"]


def artifacts_of(step: Mapping[str, Any]) -> Any:
    """The nodes of the files that it delivered, by path."""
    return step["files"] and step["files"]["artifacts"]
