"""Our own scripts and style sheets, under names that change with their content."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("static")
TYPES: Mapping[str, str] = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
EVALUATION = "evaluation.css"
"""The style of uwf-eval's reports, for the part of a page that shows one."""


class Asset(NamedTuple):
    """A file: the last part of its URL, its content and its media type."""

    path: str
    content: bytes
    type: str


class Assets:
    """The files of `static` by their names, each read on its first use.

    Args:
        base: the base path of the URLs.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self._names = {each.name for each in FOLDER.iterdir()} | {EVALUATION}
        self._known: dict[str, Asset] = {}

    def __getitem__(self, name: str) -> str:
        """The URL of a file."""
        return f"{self._base}/static/{self._asset(name).path}"

    def at(self, path: str) -> Asset | None:
        """The file of a URL's last part; None if there is none with this content."""
        rest, _, kind = path.rpartition(".")
        name = f"{rest.rpartition('.')[0]}.{kind}"
        if kind not in TYPES or name not in self._names:
            return None
        found = self._asset(name)
        return found if found.path == path else None

    def _asset(self, name: str) -> Asset:
        if name not in self._known:
            content = _evaluation_style() if name == EVALUATION else (FOLDER / name).read_bytes()
            stem, _, kind = name.rpartition(".")
            path = f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
            self._known[name] = Asset(path, content, TYPES[kind])
        return self._known[name]


def _evaluation_style() -> bytes:
    """The style within the part of the page; empty without uwf-eval."""
    from importlib.resources import files

    try:
        folder = files("uwf_eval.report.html")
    except ModuleNotFoundError:
        return b""
    colours, page = (
        folder.joinpath(name).read_text("utf-8") for name in ("colours.css", "page.css")
    )
    scope = ".evaluation"
    return f"{colours.replace(':root', scope)}{scope} {{ {page} }}".encode()
