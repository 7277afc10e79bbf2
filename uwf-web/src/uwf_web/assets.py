"""Our own scripts and style sheet, under names that change with their content."""

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

TYPES: Mapping[str, str] = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Asset(NamedTuple):
    """A file: its content and its media type."""

    content: bytes
    type: str


class Assets:
    """The files of `static`, read once.

    Attributes:
        urls: the URL of each by its name.
        by_path: each by the last part of its URL.
    """

    def __init__(self, base: str) -> None:
        self.urls: dict[str, str] = {}
        self.by_path: dict[str, Asset] = {}
        for file in files("uwf_web").joinpath("static").iterdir():
            stem, _, kind = file.name.rpartition(".")
            if kind in TYPES:
                content = file.read_bytes()
                path = f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
                self.urls[file.name] = f"{base}/static/{path}"
                self.by_path[path] = Asset(content, TYPES[kind])
