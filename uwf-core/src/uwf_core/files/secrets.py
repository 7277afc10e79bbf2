"""Search files for known secrets."""

from codecs import getincrementaldecoder
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uwf_core.api.redact import Redactor


def holds_secret(chunks: Iterable[bytes], redactor: "Redactor") -> bool:
    """Whether the bytes of a file have a known secret, plain or in another form."""
    if not redactor.forms:
        return False
    stream, decoder = redactor.stream(), getincrementaldecoder("utf-8")("surrogateescape")
    for chunk in chunks:
        stream.feed(decoder.decode(chunk))
        if stream.has_found:
            return True
    stream.feed(decoder.decode(b"", True))
    stream.end()
    return stream.has_found
