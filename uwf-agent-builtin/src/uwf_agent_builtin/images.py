"""Images that a model can look at: recognized by their first bytes, bounded by their header. Pure.

Nothing is decoded, so a small file that unpacks to many pixels costs only what its header says.
The limits are the narrowest of the services: 5 MB in base64, 8,000 pixels a side, 20 in a request.
"""

import struct
from collections.abc import Callable
from typing import Literal, NamedTuple

from uwf_llm.chat import Image, Message

IMAGE_BYTES = 3_750_000
IMAGE_PIXELS = 8000
MOST_IMAGES = 20
MOST_BYTES = 12_000_000
_MOST_TOKENS = 1600
_PIXELS_PER_TOKEN = 750
"""Of Anthropic: https://docs.anthropic.com/en/docs/build-with-claude/vision."""
_SEGMENTS = 1000
"""A JPEG may have profiles and previews before its size; more segments than these are an attack."""

Format = Literal["PNG", "JPEG", "GIF", "WebP"]
MEDIA_TYPES: dict[Format, str] = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WebP": "image/webp",
}


class ImageFormat(NamedTuple):
    """What the first bytes of an image say; `size` (width, height) is None if they are damaged."""

    name: Format
    size: tuple[int, int] | None


def format_of(data: bytes) -> ImageFormat | None:
    """The format of an image, whatever its file is called; None if it is none of `MEDIA_TYPES`."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageFormat("PNG", _size(_png, data))
    if data.startswith(b"\xff\xd8\xff"):
        return ImageFormat("JPEG", _size(_jpeg, data))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return ImageFormat("GIF", _size(lambda head: _pair("<HH", head, 6), data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ImageFormat("WebP", _size(_webp, data))
    return None


def image_tokens(message: Message) -> int:
    """About how many tokens the images of a message cost."""
    return sum(map(_tokens, message.images))


def is_over(images: list[Image]) -> bool:
    """Whether these are more than a request may have."""
    return len(images) > MOST_IMAGES or sum(len(each.data) for each in images) > MOST_BYTES


def _tokens(image: Image) -> int:
    known = format_of(image.data)
    if known is None or known.size is None:
        return _MOST_TOKENS
    width, height = known.size
    return min(_MOST_TOKENS, width * height // _PIXELS_PER_TOKEN + 1)


def _size(read: Callable[[bytes], tuple[int, int] | None], data: bytes) -> tuple[int, int] | None:
    """The size that a header says, if it is whole and not 0."""
    try:
        size = read(data)
    except (struct.error, IndexError):
        return None
    return size if size is not None and min(size) > 0 else None


def _pair(form: str, head: bytes, at: int) -> tuple[int, int]:
    first, second = struct.unpack_from(form, head, at)
    return first, second


def _png(head: bytes) -> tuple[int, int] | None:
    return _pair(">II", head, 16) if head[12:16] == b"IHDR" else None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """The size in the first segment that begins a frame."""
    at = 2
    for _ in range(_SEGMENTS):
        if head[at] != 0xFF:
            break
        kind = head[at + 1]
        if kind == 0xFF:  # a byte of padding
            at += 1
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = _pair(">HH", head, at + 5)
            return width, height
        else:
            (length,) = struct.unpack_from(">H", head, at + 2)
            at += 2 + max(length, 2)
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8X":
            sides = head[24:27], head[27:30]
            if len(sides[1]) < 3:
                return None
            width, height = (int.from_bytes(side, "little") + 1 for side in sides)
            return width, height
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", head, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = _pair("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None
