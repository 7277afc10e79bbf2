"""What the commands of `uwf store` give."""

from collections.abc import Mapping
from typing import TypedDict

from uwf_core.api.store import Fact


class StoreCheckDocument(TypedDict):
    """A store that can be used; `facts` are those of its backend, `root` is null unless asked."""

    store: str
    threads: int
    running: int
    facts: Mapping[str, Fact]
    root: str | None


class StoreMigrateDocument(TypedDict):
    """What was applied to a store; nothing if it was up to date."""

    store: str
    applied: list[str]


StoreCopyDocument = TypedDict(
    "StoreCopyDocument",
    {
        "from": str,
        "to": str,
        "moved": bool,
        "nodes": int,
        "variables": int,
        "added": int,
        "root": str,
        "files": int,
        "notCopied": list[str],
    },
)
"""A copy: the root of both stores, how many nodes the target lacked, and how many files beside the
store were copied.
"""
