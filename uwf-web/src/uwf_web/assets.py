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
            if file.name.rpartition(".")[2] in TYPES:
                self._add(base, file.name, file.read_bytes())
        self._add(base, "evaluation.css", _evaluation_style())

    def _add(self, base: str, name: str, content: bytes) -> None:
        stem, _, kind = name.rpartition(".")
        path = f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
        self.urls[name] = f"{base}/static/{path}"
        self.by_path[path] = Asset(content, TYPES[kind])


def _evaluation_style() -> bytes:
    """The style of uwf-eval's reports, for the part of a page that shows one; empty without it."""
    try:
        folder = files("uwf_eval.report.html")
    except ModuleNotFoundError:
        return b""
    colours, page = (
        folder.joinpath(name).read_text("utf-8") for name in ("colours.css", "page.css")
    )
    scope = ".evaluation"
    return f"{colours.replace(':root', scope)}{scope} {{ {page} }}".encode()
