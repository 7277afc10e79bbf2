"""A node as a file (`cas/<REF>.bin` of bundles), as ocas 0.4 writes it: CBOR of the mapping
`type`, `payload`, `timestamp`, in this order; `timestamp` is the first put in ms since 1970.
"""

from typing import NamedTuple

from uwf_core.cas.codec import decode, encode
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref

_TYPE = b"\xa3" + encode("type") + b"\x6d"
_PAYLOAD = encode("payload")
_TIMESTAMP = encode("timestamp")
_DATA = len(_TYPE) + Ref.LENGTH + len(_PAYLOAD)
_INTEGER_LENGTHS = (9, 5, 3, 2, 1)


class NodeFile(NamedTuple):
    """The content of such a file: type, the payload's CBOR, ms since 1970."""

    type: str
    data: bytes
    timestamp_ms: int


def to_bytes(node: NodeFile) -> bytes:
    """The file's content."""
    type_ = node.type.encode("ascii")
    return b"".join((_TYPE, type_, _PAYLOAD, node.data, _TIMESTAMP, encode(node.timestamp_ms)))


def from_bytes(content: bytes) -> NodeFile:
    """The inverse, for the one form of each node.

    Raises:
        CorruptNodeError: it is cut, or not in that form. The payload is not looked at further.
    """
    type_ = content[len(_TYPE) : len(_TYPE) + Ref.LENGTH].decode("ascii", "replace")
    for length in _INTEGER_LENGTHS:
        end = len(content) - length
        if content[end - len(_TIMESTAMP) : end] != _TIMESTAMP:
            continue
        node = NodeFile(type_, content[_DATA : end - len(_TIMESTAMP)], _integer(content[end:]))
        if Ref.matches(type_) and node.timestamp_ms >= 0 and to_bytes(node) == content:
            return node
    raise CorruptNodeError("it is not a node file")


def _integer(data: bytes) -> int:
    try:
        value = decode(data)
    except CorruptNodeError:
        return -1
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
