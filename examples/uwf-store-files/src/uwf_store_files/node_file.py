"""The file of a node: a CBOR map with the keys `type`, `payload`, `timestamp` in this order.

The payload is CBOR already and goes in as it is. Format: RFC 8949, shortest heads.
"""

_BEFORE_TYPE = b"\xa3\x64type\x6d"  # a map of three, the text `type`, a text of 13 bytes
_BEFORE_PAYLOAD = b"\x67payload"
_BEFORE_TIME = b"\x69timestamp"
_TYPE_LENGTH = 13


def pack(type_: str, payload: bytes, timestamp_ms: int) -> bytes:
    """The bytes of the file."""
    return b"".join(
        (
            _BEFORE_TYPE,
            type_.encode("ascii"),
            _BEFORE_PAYLOAD,
            payload,
            _BEFORE_TIME,
            _unsigned(timestamp_ms),
        )
    )


def payload_of(data: bytes) -> bytes:
    """The payload in a file's bytes.

    Raises:
        ValueError: it is not such a file.
    """
    start = len(_BEFORE_TYPE) + _TYPE_LENGTH + len(_BEFORE_PAYLOAD)
    # The last one: a number of nine bytes at most follows, in which there is room for no other.
    end = data.rfind(_BEFORE_TIME)
    if not data.startswith(_BEFORE_TYPE) or data[:start][-8:] != _BEFORE_PAYLOAD or end < start:
        raise ValueError("it is not a node's file")
    return data[start:end]


def _unsigned(number: int) -> bytes:
    if number < 24:
        return bytes([number])
    for head, size in ((0x18, 1), (0x19, 2), (0x1A, 4), (0x1B, 8)):
        if number < 1 << 8 * size:
            return bytes([head]) + number.to_bytes(size, "big")
    raise ValueError(f"{number} does not fit into 64 bits")
