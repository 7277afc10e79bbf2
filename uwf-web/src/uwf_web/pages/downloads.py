"""Files to save: delivered files, and threads in other formats. They never open in a page."""

import mimetypes
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from uwf_web.page import Visit


class Download(NamedTuple):
    """A file that the browser saves."""

    name: str
    content: bytes
    type: str = "application/octet-stream"

    def headers(self) -> Mapping[str, str]:
        """The headers that keep a browser from showing it, or running anything in it."""
        name = quote(self.name, safe="")
        return {
            "content-disposition": f"attachment; filename*=UTF-8''{name}",
            "content-security-policy": "sandbox",
            "x-content-type-options": "nosniff",
        }


def delivered(visit: Visit) -> Download:
    """A file that a step delivered; it comes from the store, never from the disk."""
    path = visit.path["path"]
    content = visit.client.step_file(visit.path["step"], path)
    guessed = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return Download(path.rpartition("/")[2] or "file", content, guessed)


def export(visit: Visit) -> Download:
    """A thread as a bundle, or in the format of an exporter."""
    thread = visit.client.show(visit.path["thread"])["thread"]
    name = visit.query.get("format", "bundle")
    if name == "bundle":
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "thread")
            visit.client.export_thread(thread, file)
            return Download(f"{thread}.thread", file.read_bytes())
    return Download(f"{thread}.{name}", b"".join(visit.client.export(thread, name)))
