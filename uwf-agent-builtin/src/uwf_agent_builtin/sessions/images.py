"""The images of the sessions of one agent: files named by the SHA-256 of their bytes.

A session refers to an image by its digest, so that an image is written once, however often it is
sent, forked or looked at again, and what was sent stays the same if the file in the workspace
changes.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_agent_builtin.images import IMAGE_BYTES, MEDIA_TYPES, format_of
from uwf_llm.chat import Image

GONE = "[the image is no longer in the session; read it again if you need it]"
_DIGEST = re.compile(r"[0-9a-f]{64}")


def digest_of(data: bytes) -> str:
    """The SHA-256 of an image, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


class SessionImages:
    """A folder of images (0700, files 0600)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, image: Image) -> dict[str, str]:
        """Write an image; the reference to it for a line of a session."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reference = {"sha256": digest_of(image.data), "mediaType": image.media_type}
        file = self._file(reference["sha256"], image.media_type)
        if self.load(reference) is None:
            part = file.with_name(f".{file.name}.{os.urandom(6).hex()}")  # branches run at once
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(part, flags, 0o600), "wb") as out:
                out.write(image.data)
            part.replace(file)
        return reference

    def load(self, reference: Any) -> Image | None:
        """The image of a reference; None if it is gone, or no longer what it was."""
        fields = reference if isinstance(reference, Mapping) else {}
        digest, media_type = fields.get("sha256"), fields.get("mediaType")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            return None
        if not isinstance(media_type, str) or media_type not in MEDIA_TYPES.values():
            return None
        with contextlib.suppress(OSError):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with open(os.open(self._file(digest, media_type), flags), "rb") as file:
                data = file.read(IMAGE_BYTES + 1)
            if digest_of(data) == digest and format_of(data) is not None:
                return Image(media_type=media_type, data=data)
        return None

    def _file(self, digest: str, media_type: str) -> Path:
        return self._folder / f"{digest}.{media_type.removeprefix('image/')}"
